"""The Pulumi.yaml that a fleet's stacks are run by. Pulumi keeps the settings of each, Pulumi.STACK.yaml, by it."""

import io
import os
import sys
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

import installation
from fleet import committed_files
from fleet.world import World
from stacks.catalogue import PROJECT

from .engine.programs import interpreter
from .errors import UsageError
from .local.enter import HOME, ROOT

FILE = "Pulumi.yaml"
POLICIES = ROOT / "policies"
# The policy pack in the folder of a fleet on the local cloud.
PACK, PACK_FILE = "policy-pack", "PulumiPolicy.yaml"
# Of a user's own project, too: docs/guide/install.md.
PROGRAM = 'from landbridge import program\n\nprogram("{}")\n'


def of_real_clouds(world: World) -> Path:
    """The folder of the one beside the fleet file, where plain `pulumi` looks; else of one made for that file.

    Either way settings lie beside the fleet file, if that one says nothing else. Raises UsageError where another
    project's would.
    """
    beside = world.path.parent / FILE
    if beside.exists():
        if (name := name_of(beside)) != PROJECT:
            raise UsageError(
                f"{beside} is of the project {name}, and the stacks of {world.path.name} are of {PROJECT}: settings of "
                "both would lie in that folder. Move the fleet file, with what lies beside it, to a folder of its own."
            )
        return beside.parent
    folder, yaml = folder_of(world), YAML()
    folder.mkdir(parents=True, exist_ok=True)
    project = yaml.load(ROOT / FILE)
    del project["main"]
    project["runtime"]["options"]["virtualenv"] = environment(folder)
    project["stackConfigDir"] = relative(world.path.parent, folder)
    written(yaml, project, folder / FILE, "stacks")
    return folder


def policies_of_real_clouds(world: World) -> Path:
    """The folder of the pack: in an install one is made, since its `virtualenv` is known here alone."""
    if installation.CHECKOUT:
        return POLICIES
    folder, yaml = folder_of(world) / PACK, YAML()
    folder.mkdir(parents=True, exist_ok=True)
    pack = yaml.load(POLICIES / PACK_FILE)
    pack["runtime"]["options"]["virtualenv"] = environment(folder)
    written(yaml, pack, folder / PACK_FILE, "policies")
    return folder


def folder_of(world: World) -> Path:
    return HOME / "projects" / world.fleet.fleet


def written(yaml: YAML, document: Any, file: Path, program: str) -> None:
    """A project or pack, with its program beside it. In whole files: other runs may begin with them right now."""
    yaml.dump(document, text := io.StringIO())
    committed_files.write(file.with_name("__main__.py"), PROGRAM.format(program))
    committed_files.write(file, text.getvalue())


def environment(folder: Path) -> str:
    """What the option `virtualenv` in a file of `folder` says for our own Python.

    One that is in no virtual environment may have no `bin/python`, which is what Pulumi calls.
    """
    if Path(sys.prefix, "bin/python").exists():
        return relative(Path(sys.prefix), folder)
    interpreter.make_folder(folder)
    return interpreter.FOLDER


def settings_in(folder: Path) -> Path:
    """Where a project in a folder keeps its stacks' settings: there, or where its Pulumi.yaml says."""
    project = YAML(typ="safe").load(folder / FILE)
    # `config` with a text is the older name.
    said = next((one for key in ("stackConfigDir", "config") if isinstance(one := project.get(key), str)), "")
    return (folder / said.lstrip("/")).resolve() if said else folder


def name_of(file: Path) -> Any:
    """None for a file that names none."""
    try:
        return (YAML(typ="safe").load(file) or {}).get("name")
    except (YAMLError, AttributeError):
        return None


def relative(path: Path, folder: Path) -> str:
    """As a file in `folder` names it."""
    return os.path.relpath(path.resolve(), folder.resolve())


def write_local(folder: Path) -> None:
    """local/Pulumi.yaml once more, outside the repository: Pulumi writes every stack's settings beside it.

    It and the policy pack's differ in that their programs are forks of one interpreter.
    """
    source, yaml = ROOT / "local" / FILE, YAML()
    project, pack = yaml.load(source), yaml.load(POLICIES / PACK_FILE)
    (folder / PACK).mkdir(exist_ok=True)
    interpreter.make_folder(folder)
    del project["main"]
    project["runtime"]["options"]["virtualenv"] = interpreter.FOLDER
    for provider in project["plugins"]["providers"]:
        provider["path"] = relative(source.parent / provider["path"], folder)
    written(yaml, project, folder / FILE, "stacks")
    pack["runtime"]["options"]["virtualenv"] = f"../{interpreter.FOLDER}"
    written(yaml, pack, folder / PACK / PACK_FILE, "policies")
