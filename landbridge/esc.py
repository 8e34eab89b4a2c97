"""Pulumi ESC: what settings of stacks name under `environment`, opened for what `landbridge` asks clouds itself.

The engine opens it for each stack, and tells nobody what is in it.
"""

import hashlib
import json
import os
import subprocess
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from .errors import UsageError

KEY, VARIABLES = "environment", "environmentVariables"
# Whose an environment is that is named without a project.
PROJECT = "default"
SECONDS = 60.0
Open = Callable[[str], Mapping[str, Any]]


@dataclass(frozen=True)
class Environments:
    """`named` are stacks whose settings have one. Of what was opened: `variables`, and `rest`, a digest of all else.

    `rest` is empty where nothing was opened, and `note` then says why to people.
    """

    named: frozenset[str] = frozenset()
    variables: Mapping[str, str] = field(default_factory=dict)
    rest: str = ""
    note: str = ""


def opened(folder: Path, stacks: Iterable[str], organization: str, open_: Open) -> Environments:
    """What the settings in a folder name, opened by full names. Raises UsageError where that fails.

    This process has one environment: all stacks that name some have to name the same.
    """
    said = {stack: value for stack in stacks if (value := of_settings(folder / f"Pulumi.{stack}.yaml"))}
    if not said:
        return Environments()
    named, files = frozenset(said), " and ".join(f"Pulumi.{stack}.yaml" for stack in said)
    first, *others = said.values()
    if any(other != first for other in others):
        return Environments(named, note=f"{files} name different environments of Pulumi ESC: {OWN}")
    if not (isinstance(first, list) and all(isinstance(name, str) for name in first)):
        return Environments(named, note=f"{files} has an environment of Pulumi ESC that no name opens: {OWN}")
    values: dict[str, Any] = {}
    for name in first:
        values = merged(values, open_(full_name(organization, name)))
    variables = {name: str(value) for name, value in (values.pop(VARIABLES, None) or {}).items()}
    text = json.dumps([first, values], sort_keys=True)
    return Environments(named, variables, hashlib.sha256(text.encode()).hexdigest()[:32])


OWN = "landbridge's own calls of clouds go by what it was started with"


def of_settings(file: Path) -> Any:
    """What a stack's settings have under `environment`; None where there are none, or none that Pulumi could read."""
    try:
        text = file.read_text()
        return (YAML(typ="safe").load(text) or {}).get(KEY) if KEY in text else None
    except (OSError, YAMLError, AttributeError):
        return None


def full_name(organization: str, name: str) -> str:
    """ORGANIZATION/PROJECT/NAME, with its version where it has one."""
    return f"{organization}/{name}" if "/" in name else f"{organization}/{PROJECT}/{name}"


def merged(one: Any, other: Any) -> Any:
    """As ESC does: of mappings every entry, of all else the later."""
    if isinstance(one, dict) and isinstance(other, dict):
        return {**one, **{key: merged(one.get(key), value) for key, value in other.items()}}
    return other


def by_pulumi(command: str, environment: Mapping[str, str]) -> Open:
    """Opens by `pulumi env open`. Raises UsageError with what Pulumi says."""

    def open_(name: str) -> Mapping[str, Any]:
        words = [command, "--non-interactive", "env", "open", name, "--format", "json"]
        try:
            done = subprocess.run(
                words,
                env={**os.environ, **environment},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise refusal(name, f"no answer in {SECONDS:.0f} s") from None
        if done.returncode:
            said = done.stderr.strip().rpartition("error: ")[2]
            raise refusal(name, " ".join(said.split()).rstrip("."))
        found: Mapping[str, Any] = json.loads(done.stdout)
        return found

    return open_


def refusal(name: str, why: str) -> UsageError:
    return UsageError(
        f"environment {name} of Pulumi ESC, which settings of stacks name, can't be opened: {why}. "
        f"Log in by `pulumi login`, and see by `pulumi env open {name}` that you may."
    )
