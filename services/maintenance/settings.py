"""What the service is told, as the add-on's stack writes it."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from fleet.model import Maintenance


class SettingsError(Exception):
    """The settings are not what this service takes. The text says where and why."""


class Settings(BaseModel):
    """`maintenance` is the fleet file's; `fills` the highest priority of pods that only hold a place.

    `queued` are sites whose GPUs Kueue counts.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    cluster: str
    maintenance: Maintenance
    fills: int
    queued: tuple[str, ...] = ()


def read(file: Path) -> Settings:
    """Raises SettingsError."""
    try:
        return Settings.model_validate_json(file.read_text())
    except OSError as error:
        raise SettingsError(f"{file}: {error.strerror}") from None
    except ValidationError as error:
        wrong = "; ".join(f"{'.'.join(map(str, one['loc'])) or 'all'}: {one['msg']}" for one in error.errors())
        raise SettingsError(f"{file}: {wrong}") from None
