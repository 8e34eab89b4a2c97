"""The house's own rules: which package may know which, how long a file may be, what may never stand in one."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
# Package → what it may import of ours. docs: the design's arrows.
ARROWS = {
    "fleet": set(),
    "evidence": set(),
    "components": {"fleet"},
    "stacks": {"components", "fleet"},
    "policies": {"fleet"},
    "services": {"fleet", "evidence"},
    "images": {"fleet"},
    "local": set(),
    "landbridge": {"stacks", "components", "images", "fleet", "evidence", "local"},
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


CLOUDS = ("aws", "azure")


def test_a_cloud_s_name_is_a_folder_s() -> None:
    """A cloud whose part is one file may be that file: `region/aws.py` beside `region/azure.py`."""
    wrong = [
        str(path.relative_to(ROOT))
        for path in tracked("*.py")
        for cloud in CLOUDS
        if re.search(rf"(^|_){cloud}", path.stem)
        and path.stem != cloud
        and cloud not in path.relative_to(ROOT).parts[:-1]
    ]
    assert wrong == []


def topics() -> list[Path]:
    """Folders with a cloud's folder in them. Tests lie where what they test does."""
    found = {path.parent.parent for path in tracked("*.py") if path.parent.name in CLOUDS}
    return sorted(topic for topic in found if topic.relative_to(ROOT).parts[0] != "tests")


def own(topic: Path, cloud: str) -> set[str]:
    """A cloud's files. Scripts end in its name as well: on machines all of them lie in one folder."""
    return {path.stem.removesuffix(f"_{cloud}") for path in (topic / cloud).glob("*.py")} - {"__init__"}


@pytest.mark.parametrize("topic", topics(), ids=lambda topic: str(topic.relative_to(ROOT)))
def test_each_file_of_a_cloud_has_its_twin_or_a_reason(topic: Path) -> None:
    """The reason stands in the docstring of the topic's package: `    aws/NAME: why it is alone`, or `aws/*`."""
    scripts = topic.name == "on_machine"
    package, below = (topic.parent, "on_machine/") if scripts else (topic, "")
    text = ast.get_docstring(ast.parse((package / "__init__.py").read_text()), clean=False) or ""
    told = set(re.findall(rf"^    {below}(aws|azure)/([\w*]+): \S", text, re.MULTILINE))
    whole = {cloud for cloud, name in told if name == "*"}
    both = set.intersection(*(own(topic, cloud) for cloud in CLOUDS))
    alone = {(cloud, name) for cloud in CLOUDS for name in own(topic, cloud) - both if cloud not in whole}
    assert alone == {one for one in told if one[1] != "*"}


def test_the_client_of_kubernetes_needs_python_alone() -> None:
    """Machines and all packages have it, so it lies beside them: docs/decisions/0057-one-kubernetes-client.md."""
    assert {name.partition(".")[0] for name in imports(ROOT / "kube_http.py")} <= sys.stdlib_module_names
    assert {name.partition(".")[0] for name in imports(ROOT / "kube_lease.py")} <= {
        *sys.stdlib_module_names,
        "kube_http",
    }


# File of one cloud → why it knows the other.
BOTH_CLOUDS = {
    "components/addons/azure/team_pods.py": "one of the two makes the service accounts that both give tokens to",
    "components/links/azure/links.py": "its links with AWS begin at AWS's connections",
}


def absolute(path: Path) -> Iterator[str]:
    """Names that a file imports, told from the root."""
    package = path.relative_to(ROOT).parent.parts
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            above = package[: len(package) + 1 - node.level] if node.level else ()
            module = ".".join([*above, *filter(None, (node.module,))])
            yield from (f"{module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def test_what_is_one_cloud_s_knows_the_other_only_with_a_reason() -> None:
    """What both need lies one floor up."""
    knowing = {
        str(path.relative_to(ROOT))
        for path in tracked(*(f"{package}/*.py" for package in ARROWS))
        for mine, other in (CLOUDS, CLOUDS[::-1])
        if mine in path.relative_to(ROOT).parts
        and any(name.split(".")[0] in ARROWS and other in name.split(".") for name in absolute(path))
    }
    assert knowing == set(BOTH_CLOUDS)


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
