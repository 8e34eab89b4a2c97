"""The Pulumi.yaml that a fleet's stacks are run by. Pulumi keeps the settings of each, Pulumi.STACK.yaml, by it."""

import io
import os
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from fleet import committed_files
from fleet.world import World
from stacks.catalogue import PROJECT

from .engine.programs import interpreter
from .errors import UsageError
from .local.enter import HOME, ROOT

FILE = "Pulumi.yaml"
POLICIES = ROOT / "policies"
# The policy pack in the folder of a fleet on the local cloud.
PACK = "policy-pack"


def of_real_clouds(world: World) -> Path:
    """The folder of the one beside the fleet file, where plain `pulumi` looks; else of one made for that file.

    Either way settings lie beside the fleet file. Raises UsageError where another project's would.
    """
    beside = world.path.parent / FILE
    if beside.exists():
        if (name := name_of(beside)) != PROJECT:
            raise UsageError(
                f"{beside} is of the project {name}, and the stacks of {world.path.name} are of {PROJECT}: settings of "
                "both would lie in that folder. Move the fleet file, with what lies beside it, to a folder of its own."
            )
        return beside.parent
    folder = HOME / "projects" / world.fleet.fleet
    folder.mkdir(parents=True, exist_ok=True)
    source, yaml = ROOT / FILE, YAML()
    project = yaml.load(source)
    project["main"] = moved(source, project["main"], folder)
    options = project["runtime"]["options"]
    options["virtualenv"] = moved(source, options["virtualenv"], folder)
    project["stackConfigDir"] = moved(source, str(world.path.parent), folder)
    yaml.dump(project, text := io.StringIO())
    committed_files.write(folder / FILE, text.getvalue())
    return folder


def name_of(file: Path) -> Any:
    """None for a file that names none."""
    try:
        return (YAML(typ="safe").load(file) or {}).get("name")
    except (YAMLError, AttributeError):
        return None


def moved(source: Path, path: str, folder: Path) -> str:
    """A path that `source` names, as a file in `folder` has to."""
    return os.path.relpath((source.parent / path).resolve(), folder.resolve())


def write_local(folder: Path) -> None:
    """local/Pulumi.yaml once more, outside the repository: Pulumi writes every stack's settings beside it.

    It and the policy pack's differ in that their programs are forks of one interpreter.
    """
    source, yaml = ROOT / "local" / FILE, YAML()
    project, pack = yaml.load(source), yaml.load(POLICIES / "PulumiPolicy.yaml")
    (folder / PACK).mkdir(exist_ok=True)
    interpreter.make_folder(folder)
    project["main"] = moved(source, project["main"], folder)
    project["runtime"]["options"]["virtualenv"] = interpreter.FOLDER
    for provider in project["plugins"]["providers"]:
        provider["path"] = moved(source, provider["path"], folder)
    yaml.dump(project, folder / FILE)
    pack["runtime"]["options"]["virtualenv"] = f"../{interpreter.FOLDER}"
    yaml.dump(pack, folder / PACK / "PulumiPolicy.yaml")
    (folder / PACK / "__main__.py").write_text('import runpy\n\nrunpy.run_module("policies", run_name="__main__")\n')
