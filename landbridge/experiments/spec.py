"""What a run is: its fields, from a run.yaml, from flags, or from Python."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field, ValidationError

from fleet.errors import FleetError
from fleet.fields import Model, Name
from fleet.shape_problems import shape_problems
from fleet.yaml import Lines, plain, read
from fleet.yaml_subset import NAME
from landbridge.code.folder import Limits

from .checkpoint_signal import Signal

FILE = "run.yaml"
# JobSet names pods RUN-PART-0-RANK, and a name of Kubernetes has 63 characters.
LONGEST_NAME = 32
Priority = Literal["low", "normal", "high"]
Variable = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", description="a name of letters, digits and _")]


class Code(Model):
    """What of the folder travels."""

    file_mib: int = Field(default=Limits().file_mib, ge=1, le=4096, description="a larger file is refused")
    tree_mib: int = Field(default=Limits().tree_mib, ge=1, le=16384, description="more in all is refused")
    allow: list[str] = Field(default_factory=list, description="files that look like secrets and are none")


class Run(Model):
    """One experiment. A field that is left out has the default that its text says."""

    command: list[str] = Field(min_length=1, description="the program and its arguments, as on every host")
    gpus: int = Field(ge=1, description="GPUs in all; more than a machine has are whole machines")
    name: Annotated[str, Field(pattern=f"^{NAME}$")] | None = Field(
        default=None, description="made of the folder's name where it is left out"
    )
    team: Name | None = Field(default=None, description="whose queue; your own")
    cluster: Name | None = Field(default=None, description="the fleet's only one; any: where it can begin soonest")
    gpus_per_host: int | None = Field(default=None, ge=1, le=16, description="as many as the largest machines have")
    image: str | None = Field(default=None, min_length=1, description="images.runs of the fleet file")
    template: str = Field(default="plain", min_length=1, description="how the hosts' processes meet")
    environment: dict[Variable, str] = Field(default_factory=dict)
    secrets: list[Name] = Field(
        default_factory=list, max_length=10, description="Secrets of the team's namespace, whose keys become variables"
    )
    priority: Priority = "normal"
    restarts: int = Field(default=0, ge=0, le=100, description="after an exit code of its own that is not 0")
    hang_minutes: float | None = Field(
        default=None,
        ge=0.1,
        le=7 * 24 * 60,
        description="a host fails that leaves its HEARTBEAT_FILE untouched so long",
    )
    checkpoint_signal: Signal | None = Field(
        default=None, description="to programs that handle it, in the last hour before maintenance of their host"
    )
    max_hours: float | None = Field(default=None, gt=0, le=24 * 365, description="then it is stopped")
    max_price: float | None = Field(default=None, gt=0, description="US dollars an hour for all its machines")
    checkpoints: Name | None = Field(default=None, description="the share with CHECKPOINT_DIR")
    cpus: int | None = Field(default=None, ge=1, description="of each host; what its GPUs' share of a machine is")
    memory_gib: int | None = Field(default=None, ge=1, description="of each host; no bound")
    redis: bool = Field(default=False, description="a Valkey of its own, by REDIS_URL")
    tensorboard: bool = Field(default=False, description="TensorBoard beside the first host, for TENSORBOARD_DIR")
    code: Code = Code()


class Given(NamedTuple):
    """A run, and where its fields were said: lines of a file by field; what is not there was a flag, or nothing."""

    run: Run
    file: str
    lines: Mapping[str, int]

    def at(self, field: str) -> str:
        """Where a field was said, for errors."""
        return f"{self.file}:{self.lines[field]}" if field in self.lines else f"--{field.replace('_', '-')}"


def given(folder: Path, flags: Mapping[str, Any], file: Path | None = None) -> Given:
    """What run.yaml in the folder says, or another file, and the flags before that. Raises FleetError.

    `flags` hold what was said: fields by name, without those that were left out.
    """
    path = file or folder / FILE
    if not path.exists() and file is None:
        return Given(_validated(dict(flags), "landbridge run", None), "", {})
    data, lines = read(path, path.name, "two lines: `command: [python, train.py]` and `gpus: 8`")
    run = _validated({**plain(data), **flags}, path.name, lines)
    return Given(run, path.name, {str(field): lines.of((field,)) for field in data if field not in flags})


def _validated(fields: dict[str, Any], file: str, lines: Lines | None) -> Run:
    try:
        return Run.model_validate(fields)
    except ValidationError as error:
        raise FleetError(list(shape_problems(Run, file, lines, error))) from None
