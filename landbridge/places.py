"""Where things lie: the repository, the one git-ignored folder, and the state of a fleet in either world."""

import os
import shlex
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import installation
from fleet.errors import FleetError
from fleet.state import FILE, PASSPHRASE, in_pulumi_cloud
from fleet.where import ENVIRONMENT as FLEET_VARIABLE
from fleet.where import fleet_path
from fleet.world import World
from local import client
from local.environment import scrubbed, signing_in
from stacks.catalogue import PROJECT, catalogue

from . import esc, passphrase, projects
from .engine.programs import interpreter
from .errors import UsageError
from .local.enter import HOME


@dataclass(frozen=True)
class Place:
    """Where a fleet's stacks live: the folder of a Pulumi.yaml, the backend's URL, and the environment for Pulumi."""

    world: str
    project: Path
    backend: str
    secrets_provider: str
    logs: Path
    environment: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    cloud: client.Cloud | None = None
    policies: Path = projects.POLICIES
    # What the settings file of a new stack begins with.
    settings: str = ""
    # Where those files lie, if not beside Pulumi.yaml.
    settings_in: Path | None = None
    # In Pulumi Cloud: whose the stacks are, and what their settings name of Pulumi ESC.
    organization: str = ""
    environments: esc.Environments = field(default_factory=esc.Environments)

    @property
    def settings_folder(self) -> Path:
        return self.settings_in or self.project

    def full_name(self, stack: str) -> str:
        """As the backend knows a stack, whoever is logged in."""
        return f"{self.organization}/{PROJECT}/{stack}" if self.organization else stack

    @property
    def state_folder(self) -> Path | None:
        """Where a file backend keeps stacks and locks; None for other backends."""
        url = urlsplit(self.backend)
        return Path(url.path) / ".pulumi" if url.scheme == FILE else None

    def stack_file(self, stack: str) -> Path | None:
        """Where a file backend keeps a stack's state; None for other backends."""
        return self.state_folder and self.state_folder / "stacks" / PROJECT / f"{stack}.json"

    @property
    def options(self) -> str:
        """What a command that we name has to say to work on this fleet, with a blank before each option."""
        return (" --local" if self.world == "local" else "") + self.fleet_option

    @property
    def fleet_option(self) -> str:
        """The same of commands that are of the local cloud anyway."""
        file = self.environment.get(FLEET_VARIABLE)
        return f" --fleet {shlex.quote(file)}" if file and Path(file) != found_unasked() else ""

    @property
    def policy_packs(self) -> list[str]:
        return [str(self.policies)]

    def interpreter(self) -> dict[str, str]:
        """What to add to the environment of a command that starts programs: on the local cloud they are forks."""
        return interpreter.environment(self.environment) if self.cloud else {}


def found_unasked() -> Path | None:
    """The fleet file that a command without --fleet takes here."""
    try:
        return fleet_path()
    except FleetError:
        return None


def common_environment(world: World, backend: str) -> dict[str, str]:
    return {
        FLEET_VARIABLE: str(world.path),
        "PULUMI_BACKEND_URL": backend,
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",  # the language host lists packages with pip, once a run
        "PYTHONUNBUFFERED": "1",  # policy packs print their port, and Pulumi waits for it
    }


def cloud_place(world: World) -> Place:
    """The fleet on real clouds. Raises UsageError when there is no word of its state, or no passphrase for it, or when
    what settings of stacks name of Pulumi ESC can't be opened.
    """
    state = world.fleet.state
    if state is None:
        raise UsageError(
            f"{world.path.name}: `state` is missing: real clouds need a place for Pulumi's state that the team shares, "
            "and a key for the secrets in it. Add `state: {backend: s3://BUCKET, secrets: awskms://alias/KEY}`, "
            "or another of docs/guide/state.md, or use --local for the local cloud."
        )
    logs = HOME / "logs" / world.fleet.fleet
    backend = written_whole(state.backend)
    environment = common_environment(world, backend) | STATE_KNOWS_ITS_KEY
    if state.secrets == PASSPHRASE:
        environment |= passphrase.passed_on(world.path.name, os.environ)
    project = projects.of_real_clouds(world)
    settings_in = projects.settings_in(project)
    opened = environments(world, settings_in, environment) if in_pulumi_cloud(state) else esc.Environments()
    os.environ.update(opened.variables)  # ours, as each engine's
    return Place(
        "real",
        project,
        backend,
        state.secrets,
        logs,
        environment,
        policies=projects.policies_of_real_clouds(world),
        notes=(opened.note,) if opened.note else (),
        settings_in=settings_in,
        organization=state.organization or "",
        environments=opened,
    )


def environments(world: World, settings_in: Path, environment: Mapping[str, str]) -> esc.Environments:
    """Of Pulumi ESC: what settings of the fleet's stacks name, in the organization that these are of."""
    assert world.fleet.state is not None
    pulumi = f"{root}/bin/pulumi" if (root := pulumi_root()) else "pulumi"
    stacks = [stack.name for stack in catalogue(world.fleet)]
    return esc.opened(settings_in, stacks, world.fleet.state.organization or "", esc.by_pulumi(pulumi, environment))


def written_whole(backend: str) -> str:
    """The URL of a store of state, such that no file in it is ever seen half written; of folders the whole path.

    A `file://` store keeps metadata beside each file and writes that in place: who reads a stack in that moment, or
    after a kill, is told `failed to load checkpoint: EOF`. Pulumi needs none of it.
    """
    if not backend.startswith(f"{FILE}://"):
        return backend
    home = f"{FILE}://~"
    if backend.startswith(home):
        backend = f"{FILE}://{Path.home()}{backend.removeprefix(home)}"
    return backend if "metadata=" in backend else f"{backend}{'&' if '?' in backend else '?'}metadata=skip"


# Pulumi keeps the name of the key in a settings file that only the one who made the stack has; the state has it too.
STATE_KNOWS_ITS_KEY = {"PULUMI_FALLBACK_TO_STATE_SECRETS_MANAGER": "true"}


def local_place(world: World, cloud: client.Cloud) -> Place:
    """The fleet on the local cloud; its folder starts empty when the world in there is a new one."""
    folder, dropped = client.fleet_home(cloud, world.fleet.fleet)
    (folder / "state").mkdir(exist_ok=True)
    projects.write_local(folder)
    backend = written_whole(f"file://{folder / 'state'}")
    aws, azure = world.fleet.aws, world.fleet.azure
    signed_in = signing_in(aws.account_id if aws else None, azure.tenant_id if azure else None)
    os.environ.update(signed_in)  # ourselves, too
    environment = (
        common_environment(world, backend)
        | signed_in
        | {
            "PULUMI_CONFIG_PASSPHRASE": "local",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            "PULUMI_DIY_BACKEND_DISABLE_CHECKPOINT_BACKUPS": "true",
            "PULUMI_HOME": str(folder / "pulumi"),
        }
    )
    notes = (RESTARTED.format(fleet=world.fleet.fleet),) if dropped else ()
    logs = folder / "logs"
    return Place(
        "local", folder, backend, "passphrase", logs, environment, notes, cloud, folder / projects.PACK, ONE_SALT
    )


# Of the local cloud's passphrase, which is no secret. Pulumi makes a key of a passphrase and a stack's salt in a
# million rounds, for each stack that a program reads from, and knows the keys that it has: of one salt it is one.
ONE_SALT = "encryptionsalt: v1:PqmthM8g6e0=:v1:a6xMlWrpgtY+XXzq:FlnV7u7Qigl2Rklr5Kg17GoQYVO1Pw==\n"
RESTARTED = "The local cloud has another world than the one of fleet {fleet}'s state: that fleet starts clean."


def local_environment(place: Place) -> dict[str, str]:
    """The whole environment of a command inside the local cloud."""
    path = os.pathsep.join([str(installation.BIN), os.environ.get("PATH", os.defpath)])
    return scrubbed(os.environ) | place.environment | {"PATH": path}


def pulumi_root() -> str | None:
    """The folder over `bin/pulumi` that set-up made; None when the one on the PATH is to be used."""
    if (installation.BIN / "pulumi").exists():
        return str(installation.PROGRAMS)
    if shutil.which("pulumi") is None:
        raise UsageError(installation.missing("Pulumi"))
    return None
