"""What is imported is declared, in the extra of those who import it; and a fleet imports the SDKs of its own clouds."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from fleet.extras import EXTRAS
from landbridge.commands import COMMANDS
from tests.test_house import ARROWS, ROOT, tracked

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
# Package → the extra that it is for. What lies in a cloud's folder may have that cloud's, too.
OF_PACKAGE = {"local": "local", "services": "services", "images/checks": "images"}
OTHERS = ("tests", "bench", "tools", "examples")
# Files of one cloud that no folder says so of → why.
OF_CLOUD = {"stacks/addons/joining.py": "azure"}
# Run by the Python of an environment of their own.
ELSEWHERE = {"tools/release/valid_bills.py"}
# Lie on machines, where Python alone is, or in an image.
ON_MACHINES = re.compile(r"/on_machine/|^images/files/|/stub\.py$|^local/workers/played/")
# Made by Pulumi of our package: docs/guide/own-programs.md.
SDK = "pulumi_landbridge"
OURS = {
    *ARROWS,
    *OTHERS,
    "installation",
    "kube_http",
    "kube_lease",
    "conftest",
    "release",
    SDK,
    *(path.stem for path in tracked("*/on_machine/*.py")),
}
OURS |= {path.stem for path in tracked("tools/*.py", "images/files/*.py")}
KINDS = ("region", "links", "cluster", "laptops", "pool", "addons")


def names(requirements: list[str]) -> set[str]:
    """Distributions, in the form that metadata are compared in."""
    return {normal(re.match(r"[\w.-]+", one)[0]) for one in requirements}  # type: ignore[index]


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


BASE = names(PROJECT["dependencies"])
DECLARED = {extra: names(of) for extra, of in PROJECT["optional-dependencies"].items()}
# A namespace that many distributions share names none of them: see `distribution`.
PROVIDERS = packages_distributions()


def distribution(module: str) -> str:
    """Who brings a module."""
    top, *below = module.split(".")
    if top == "azure":
        known = [
            one for one in DECLARED["azure"] if ".".join(("azure", *below, "")).startswith(one.replace("-", ".") + ".")
        ]
        return max(known, key=len, default=f"azure-{'-'.join(below)}")
    if top == "google":
        return "protobuf"
    if top == "ruamel":
        return "ruamel-yaml"
    return normal(PROVIDERS.get(top, [top])[0])


def imported(path: Path) -> Iterator[tuple[str, bool]]:
    """Modules that are not ours nor Python's, and whether the import waits for a call."""
    tree = ast.parse(path.read_text())
    waiting = {
        inner
        for outer in ast.walk(tree)
        if isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef)
        or (isinstance(outer, ast.If) and "TYPE_CHECKING" in ast.dump(outer.test))
        for inner in ast.walk(outer)
    }
    for node in ast.walk(tree):
        found = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and not node.level and node.module:
            # Of azure, a namespace of many distributions, what is below it says whose it is.
            found = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in found:
            if name.partition(".")[0] not in OURS | sys.stdlib_module_names:
                yield name, node in waiting


def allowed(file: str, *, waits: bool) -> set[str]:
    """Distributions that a file may import of."""
    if file.startswith(OTHERS):
        return BASE.union(*DECLARED.values())
    may = set(BASE)
    for package, extra in OF_PACKAGE.items():
        if file.startswith(f"{package}/"):
            may |= DECLARED[extra]
    if waits or "azure" in (*Path(file).with_suffix("").parts, OF_CLOUD.get(file)):
        may |= DECLARED["azure"]
    return may


@pytest.mark.parametrize("package", [*ARROWS, *OTHERS])
def test_what_is_imported_is_declared_for_those_who_import_it(package: str) -> None:
    wrong = sorted(
        f"{file} imports {module}, which {distribution(module)} brings"
        for path in tracked(f"{package}/*.py")
        if not ON_MACHINES.search(file := str(path.relative_to(ROOT))) and file not in ELSEWHERE
        for module, waits in imported(path)
        if distribution(module) not in allowed(file, waits=waits)
    )
    assert wrong == []


def test_the_services_container_has_what_services_import() -> None:
    lines = (ROOT / "services/requirements.in").read_text().splitlines()
    has = names([line for line in lines if line and not line.startswith("#")])
    wanted = {distribution(module) for path in tracked("services/*.py") for module, _ in imported(path)}
    assert wanted - has == set()


def test_extras_are_known_by_modules_that_they_bring() -> None:
    assert {*EXTRAS} == {*DECLARED} - {"dev"}
    for extra, one in EXTRAS.items():
        brought = {top for top, by in PROVIDERS.items() if {normal(name) for name in by} & DECLARED[extra]}
        others = {top for top, by in PROVIDERS.items() if {normal(name) for name in by} & BASE}
        assert {*one.modules} <= brought - others, extra


def came(*modules: str, without: set[str] | None = None) -> set[str]:
    """Packages that came with modules; `without` are not installed."""
    command = ["tests.support.imports", *modules]
    if without:
        command = ["tests.support.absent", ",".join(without), *command]
    done = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_without_extras_all_commands_and_a_fleet_in_aws_are_there() -> None:
    commands = {f"landbridge.commands.{module}" for module, _ in COMMANDS.values()}
    stacks = [f"stacks.{kind}.aws" for kind in KINDS]
    brought = {module for one in EXTRAS.values() for module in one.modules}
    assert "pulumi_aws" in came(*commands, *stacks, "stacks.pool.site", "policies.pack", without=brought)


def test_stacks_import_the_sdk_of_their_own_cloud() -> None:
    both = {"aws": "pulumi_aws", "azure": "pulumi_azure_native"}
    for cloud, other in (("aws", "azure"), ("azure", "aws")):
        found = came(*(f"stacks.{kind}.{cloud}" for kind in KINDS), "stacks.pool.site")
        assert both[cloud] in found
        assert both[other] not in found
    assert not {*both.values()} & came(*(f"stacks.{kind}" for kind in KINDS))
