"""What the service is told of the cluster's scaling groups and of its limits, as the add-on's stack writes it."""

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError


class SettingsError(Exception):
    """The settings are not what this service takes. The text says where and why."""


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Group(Strict):
    """A scaling group, by the name that the cloud has for it. `template` is a v1.Node as JSON; `price_usd` is that of
    one machine for an hour, None where nobody has said it.
    """

    name: str
    pool: str
    owner: str
    region: str
    least: int = Field(ge=0)
    most: int = Field(ge=0)
    gpus: int = Field(ge=0)
    price_usd: float | None = Field(gt=0)
    template: dict[str, Any]


class PoolLimit(Strict):
    machines: int = Field(ge=0)


class Limit(Strict):
    """Of all machines together that one owner or the fleet has; None is no limit."""

    gpus: int | None = Field(default=None, ge=0)
    price_usd: float | None = Field(default=None, ge=0)


class Limits(Strict):
    pools: dict[str, PoolLimit] = {}
    owners: dict[str, Limit] = {}
    fleet: Limit = Limit()


class Azure(Strict):
    """`resource_groups` are by region."""

    subscription_id: str
    resource_groups: dict[str, str]


class Settings(Strict):
    cluster: str
    region_clouds: dict[str, Literal["aws", "azure"]]
    azure: Azure | None = None
    groups: tuple[Group, ...]
    limits: Limits = Limits()

    @property
    def by_name(self) -> dict[str, Group]:
        return {group.name: group for group in self.groups}


def read(file: Path) -> Settings:
    """Raises SettingsError."""
    try:
        found = Settings.model_validate_json(file.read_text())
    except OSError as error:
        raise SettingsError(f"{file}: {error.strerror}") from None
    except ValidationError as error:
        wrong = "; ".join(f"{'.'.join(map(str, one['loc'])) or 'all'}: {one['msg']}" for one in error.errors())
        raise SettingsError(f"{file}: {wrong}") from None
    if unknown := sorted({group.region for group in found.groups} - set(found.region_clouds)):
        raise SettingsError(f"{file}: groups are in {', '.join(unknown)}, which region_clouds lacks")
    in_azure = {name for name, cloud in found.region_clouds.items() if cloud == "azure"}
    if homeless := sorted(in_azure - (found.azure.resource_groups.keys() if found.azure else set())):
        raise SettingsError(f"{file}: azure.resource_groups lacks {', '.join(homeless)}")
    if len(found.by_name) < len(found.groups):
        raise SettingsError(f"{file}: two groups have one name")
    return found
