"""How the processes of a run meet: templates, which are data, ours or a user's own file."""

from pathlib import Path
from string import Template as Text
from typing import Annotated, Literal

from pydantic import Field, ValidationError, model_validator

from fleet.errors import FleetError, Problem
from fleet.fields import Model
from fleet.shape_problems import shape_problems
from fleet.yaml import Lines, plain, read

from .spec import Variable

FOLDER = Path(__file__).with_name("templates")
# JobSet names pods RUN-PART-0-RANK.
PartName = Annotated[str, Field(pattern=r"^[a-z]([a-z0-9]{0,9})$", description="up to 10 small letters and digits")]


class Part(Model):
    """Like hosts of a run."""

    hosts: Literal["all"] | Annotated[int, Field(ge=1, le=64)] = Field(description="all: those that its GPUs make")
    gpus: Literal["each", "none"] = Field(default="each", description="none: it takes no machine for itself")
    before: list[str] = Field(default_factory=list, description="words before the command's own")
    command: list[str] | None = Field(default=None, description="instead of the command")
    folders: list[Annotated[str, Field(pattern=r"^/[a-zA-Z0-9/._-]+$")]] = Field(
        default_factory=list, description="empty folders that it may write to"
    )
    environment: dict[Variable, str] = Field(default_factory=dict)


class Template(Model):
    """`$(NAME)` is a variable of the host, as Kubernetes fills it in. `${PART}` are a part's hosts, with commas between
    them, `${PART_json}` a list of HOST:PORT in JSON, `${slots}` GPUs of a host. A `$` of a shell is written `$$`.
    """

    about: str = Field(min_length=1, description="what it is for, in a line")
    parts: dict[PartName, Part] = Field(min_length=1, max_length=4)
    ssh: bool = Field(default=False, description="hosts reach each other by SSH: SSH_FOLDER has keys of the run's own")
    ends: PartName | None = Field(default=None, description="the part whose end is the run's; all of them")
    environment: dict[Variable, str] = Field(default_factory=dict)

    @model_validator(mode="after")
    def whole(self) -> "Template":
        """Raises ValueError."""
        if self.ends is not None and self.ends not in self.parts:
            raise ValueError(f"ends is {self.ends}, and the parts are {', '.join(self.parts)}")
        if sum(part.hosts == "all" for part in self.parts.values()) != 1:
            raise ValueError("one part has `hosts: all`, and only one: the run's GPUs are its")
        if any(part.hosts != "all" and part.gpus == "each" for part in self.parts.values()):
            raise ValueError("a part with a number of hosts has no GPUs: write `gpus: none` in it")
        known = {"slots", *(name for part in self.parts for name in (part, f"{part}_json"))}
        for text in self.texts():
            if wrong := [name for name in Text(text).get_identifiers() if name not in known]:
                raise ValueError(f"${{{wrong[0]}}} is no part: there are {', '.join(sorted(known))}")
            if not Text(text).is_valid():
                raise ValueError(f"{text!r} has a $ that begins nothing: write $$ for one")
        return self

    @property
    def main(self) -> str:
        """The part that the run's GPUs are of."""
        return next(name for name, part in self.parts.items() if part.hosts == "all")

    @property
    def shown(self) -> str:
        """The part whose output is the run's."""
        return self.ends or self.main

    def texts(self) -> list[str]:
        """All that is filled in."""
        words = [
            one
            for part in self.parts.values()
            for one in (*part.before, *(part.command or ()), *part.environment.values())
        ]
        return [_kept(one) for one in (*self.environment.values(), *words)]


def _kept(text: str) -> str:
    """Kubernetes' own $(NAME) means nothing to Python's templates."""
    return text.replace("$(", "$$(")


def filled(text: str, hosts: dict[str, str]) -> str:
    return Text(_kept(text)).substitute(hosts)


def names() -> list[str]:
    """Ours."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def template(named: str, folder: Path) -> Template:
    """One of ours, or a file of the user's, which ends in .yaml. Raises FleetError."""
    own = named.endswith((".yaml", ".yml"))
    if not own and named not in names():
        remedy = f"Ours are {', '.join(names())}. A file of your own ends in .yaml"
        raise FleetError([Problem("template", None, f"there is no template {named}", remedy)])
    path = folder / named if own else FOLDER / f"{named}.yaml"
    data, lines = read(path, str(named) if own else path.name, "a copy of one of ours")
    return _validated(plain(data), path.name, lines)


def _validated(fields: object, file: str, lines: Lines) -> Template:
    try:
        return Template.model_validate(fields)
    except ValidationError as error:
        raise FleetError(list(_problems(file, lines, error))) from None


def _problems(file: str, lines: Lines, error: ValidationError) -> list[Problem]:
    whole = [detail for detail in error.errors(include_url=False) if not detail["loc"]]
    if whole:
        return [Problem(file, None, str(one["ctx"]["error"]), "Correct the template") for one in whole]
    return list(shape_problems(Template, file, lines, error))
