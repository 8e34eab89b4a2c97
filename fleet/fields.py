"""What entries of the fleet file are made of, wherever they stand."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from .yaml_subset import NAME

Name = Annotated[str, Field(pattern=f"^{NAME}$", description="a DNS label of 1 to 32 characters")]
MAIL = r"^[^@\s]+@[^@\s]+$"


class Model(BaseModel):
    """Base of every entry: unknown keys and wrong types are errors, and nothing changes after loading."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)
