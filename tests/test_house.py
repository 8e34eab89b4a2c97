"""The house's own rules: which package may know which, how long a file may be, what may never stand in one."""

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# Package → what it may import of ours. docs: the design's arrows.
ARROWS = {
    "fleet": set(),
    "components": {"fleet"},
    "stacks": {"components", "fleet"},
    "policies": {"fleet"},
    "services": {"fleet"},
    "images": {"fleet"},
    "local": set(),
    "landbridge": {"stacks", "components", "images", "fleet", "local"},
}
LONGEST = 400
# Machines' own paths and registries' hosts. Split, so that this file passes its own test.
FORBIDDEN = [
    re.compile(part)
    for part in (r"/wor" r"k/", r"/ro" r"ot/", r"pypi\.o" r"rg", r"proxy\.gol" r"ang", r"files\.pythonh" r"osted")
]


def tracked(*patterns: str) -> list[Path]:
    listed = subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in listed.splitlines() if (ROOT / name).exists()]


def imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module


@pytest.mark.parametrize("package", sorted(ARROWS))
def test_arrows_point_one_way(package: str) -> None:
    wrong = [
        f"{path.relative_to(ROOT)} imports {module}"
        for path in tracked(f"{package}/*.py")
        for module in imports(path)
        if (ours := module.partition(".")[0]) in ARROWS and ours != package and ours not in ARROWS[package]
    ]
    assert wrong == []


def test_the_fleet_knows_no_pulumi() -> None:
    assert [path for path in tracked("fleet/*.py") if any(name.startswith("pulumi") for name in imports(path))] == []


def test_no_file_is_too_long() -> None:
    long = {str(path): count for path in tracked("*.py") if (count := len(path.read_text().splitlines())) > LONGEST}
    assert long == {}


def test_components_are_defined_without_postponed_annotations() -> None:
    # With them Pulumi's component analysis fails on 'str' objects.
    guilty = [
        path
        for path in tracked("components/*.py", "stacks/*.py")
        if "from __future__ import annotations" in path.read_text()
    ]
    assert guilty == []


def test_only_the_main_module_builds_the_policy_pack() -> None:
    builders = [path for path in tracked("policies/*.py") if "PolicyPack(" in path.read_text()]
    assert [path.name for path in builders] == ["__main__.py"]


def test_our_distribution_is_not_taken_for_a_plugin() -> None:
    # The language host asks for a provider plugin of every distribution named like that.
    assert not re.search(r'^name = "pulumi-', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)


def test_no_tracked_file_speaks_of_machines_or_registries() -> None:
    found = []
    for path in tracked():
        if path.suffix in (".sum", ".png"):
            continue
        text = path.read_text(errors="replace")
        found += [f"{path.relative_to(ROOT)}: {pattern.pattern}" for pattern in FORBIDDEN if pattern.search(text)]
    assert found == []


def test_programs_are_started_without_python_between_fork_and_exec() -> None:
    """tests/support/children.py says why. The local cloud's own daemons have no gRPC in them."""
    speak_grpc = [f"{folder}/*.py" for folder in ("components", "stacks", "landbridge", "local/providers", "tests")]
    hook = re.compile(r"preexec_fn\s*=")
    assert [str(path) for path in tracked(*speak_grpc) if hook.search(path.read_text())] == []


def test_every_default_provider_is_disabled() -> None:
    for file in ("Pulumi.yaml", "local/Pulumi.yaml"):
        assert "pulumi:disable-default-providers" in (ROOT / file).read_text()
