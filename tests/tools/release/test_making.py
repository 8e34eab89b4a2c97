"""A release of a small project: the same bytes twice, checked by what a user has, and refused for what is not in order."""

import datetime
import json
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from release import making, packages, provenance, signing, source
from release.errors import ReleaseError
from release.making import Tools
from release.programs import Program

from . import ROOT

DAY = datetime.date(2026, 6, 30)
CHANGELOG = "# Changelog\n\n## [Unreleased]\n\n## [1.2.3] - 2026-06-29\n\n### Added\n\n- A thing.\n"
PROJECT = """\
[build-system]
requires = ["setuptools>=80"]
build-backend = "setuptools.build_meta"

[project]
name = "landbridge"
version = "1.2.3"

[tool.setuptools]
packages = ["thing"]
"""
FILES = {
    "CHANGELOG.md": CHANGELOG,
    "pyproject.toml": PROJECT,
    "thing/__init__.py": "THING = 1\n",
    "thing/run.sh": "#!/bin/sh\n",
}
NEEDED = (*provenance.MATERIALS, "images/recipe.yaml", "images/locks")


def git(root: Path, *words: str) -> str:
    names = {f"GIT_{who}_{what}": "a@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    dates = dict.fromkeys(("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"), "2026-06-29T12:00:00Z")
    env = {**os.environ, **names, **dates}
    return subprocess.run(["git", *words], cwd=root, check=True, capture_output=True, text=True, env=env).stdout.strip()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """What a release is made from: a small package, with the locks and the recipe that are ours."""
    root = tmp_path / "project"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    for name in NEEDED:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copyfile)(ROOT / name, root / name)
    git(root, "init", "--quiet", "--initial-branch", "main")
    git(root, "add", ".")
    git(root, "commit", "--quiet", "--message", "first")
    return root


@pytest.fixture
def tools(audit_tools: Path) -> Tools:
    if (go := shutil.which("go")) is None:
        pytest.skip("asks the Go on the PATH for its version")
    return Tools(ROOT / ".venv/bin/uv", ROOT / ".venv/bin/python", audit_tools / "python", go)


@pytest.fixture
def programs(tmp_path: Path) -> list[Program]:
    (tmp_path / "own").write_text("a program")
    return [Program("own", tmp_path / "own", "1.26.8", "landbridge/tools/own", (), ())]


def test_two_releases_of_a_commit_are_the_same_and_a_user_can_check_one(
    project: Path, tools: Tools, programs: list[Program], tmp_path: Path
) -> None:
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(key)], check=True)
    one = making.make(project, tmp_path / "one", tools, programs, DAY, repository="https://example.com/a", key=key)
    time.sleep(2)  # archives have times of whole seconds
    os.utime(project / "thing/__init__.py")
    (project / "thing/run.sh").chmod(0o600)
    two = making.make(project, tmp_path / "two", tools, programs, DAY, repository="https://example.com/a", key=key)
    assert [file.name for file in one] == [
        "SHA256SUMS",
        "SHA256SUMS.sig",
        "landbridge-1.2.3-py3-none-any.whl",
        "landbridge-1.2.3.intoto.json",
        "landbridge-1.2.3.programs.cdx.json",
        "landbridge-1.2.3.python.cdx.json",
        "landbridge-1.2.3.services.cdx.json",
        "landbridge-1.2.3.tar.gz",
    ]
    assert {file.name: file.read_bytes() for file in one} == {file.name: file.read_bytes() for file in two}
    assert list(tmp_path.glob(".release-*")) == []

    folder = tmp_path / "one"
    subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=folder, check=True, capture_output=True)
    allowed = tmp_path / "allowed_signers"
    allowed.write_text(f"release@example.com {(tmp_path / 'key.pub').read_text()}")
    assert verified(folder, allowed)
    (folder / "SHA256SUMS").write_text((folder / "SHA256SUMS").read_text().replace("a", "b", 1))
    assert not verified(folder, allowed)

    told = json.loads((tmp_path / "two/landbridge-1.2.3.intoto.json").read_text())
    assert (told["_type"], told["predicateType"]) == (provenance.STATEMENT, provenance.PREDICATE)
    subjects = {one["name"]: one["digest"]["sha256"] for one in told["subject"]}
    assert subjects == {
        file.name: provenance.sha256(file)
        for file in two
        if file.suffix not in ("", ".sig") and "intoto" not in file.name
    }
    code, *materials = told["predicate"]["buildDefinition"]["resolvedDependencies"]
    assert code["digest"]["gitCommit"] == git(project, "rev-parse", "HEAD")
    assert [one["name"] for one in materials] == list(provenance.MATERIALS)


def verified(folder: Path, allowed: Path) -> bool:
    """As docs/guide/supply-chain.md says it."""
    command = ["ssh-keygen", "-Y", "verify", "-f", str(allowed), "-I", "release@example.com", "-n", signing.NAMESPACE]
    with (folder / "SHA256SUMS").open() as text:
        return subprocess.run([*command, "-s", "SHA256SUMS.sig"], cwd=folder, stdin=text, check=False).returncode == 0


def test_a_file_that_is_not_committed_stops_it_and_leaves_nothing(project: Path, tools: Tools, tmp_path: Path) -> None:
    (project / "thing/new.py").write_text("")
    with pytest.raises(ReleaseError, match=r"^thing/new.py is not committed"):
        making.make(project, tmp_path / "one", tools, [], DAY)
    assert not (tmp_path / "one").exists()


def test_a_version_that_is_there_or_that_another_commit_has_is_not_made_again(
    project: Path, tools: Tools, tmp_path: Path
) -> None:
    (tmp_path / "one").mkdir()
    with pytest.raises(ReleaseError, match=r"one is there already. A version is released once"):
        making.make(project, tmp_path / "one", tools, [], DAY)
    git(project, "tag", "v1.2.3")
    assert source.current(project, "1.2.3").commit == git(project, "rev-parse", "HEAD")
    git(project, "commit", "--quiet", "--allow-empty", "--message", "second")
    with pytest.raises(ReleaseError, match=r"^v1.2.3 is the tag of [0-9a-f]{12} already"):
        source.current(project, "1.2.3")
    git(project, "tag", "--annotate", "--force", "v1.2.3", "--message", "signed or not")
    assert source.current(project, "1.2.3").commit == git(project, "rev-parse", "HEAD")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            "## [1.2.3] - 2026-06-29",
            "## [1.2.2] - 2026-06-29",
            "has no section of 1.2.3. Write `## [1.2.3] - 2026-06-30`",
        ),
        ("## [1.2.3] - 2026-06-29", "## [1.2.3]", "the section of 1.2.3 has no day"),
        ("- 2026-06-29", "- 2026-07-01", "1.2.3 is dated 2026-07-01, and today is 2026-06-30"),
        ("- A thing.\n", "", "the section of 1.2.3 says nothing"),
        ("## [Unreleased]\n", "## [Unreleased]\n\n- Later.\n", "lines still stand under Unreleased"),
        ("## [Unreleased]", "## [1.3.0] - 2026-06-30", "1.3.0 stands above 1.2.3"),
    ],
)
def test_the_changelog_says_what_is_new(old: str, new: str, words: str) -> None:
    source.check_changelog(CHANGELOG, "1.2.3", DAY)
    with pytest.raises(ReleaseError) as told:
        source.check_changelog(CHANGELOG.replace(old, new, 1), "1.2.3", DAY)
    assert words in str(told.value)


def test_a_version_that_is_none_is_refused() -> None:
    with pytest.raises(ReleaseError, match=r"version 1.2 should be like 1.2.3"):
        source.check_changelog(CHANGELOG, "1.2", DAY)


def test_a_key_that_does_not_sign_is_told(tmp_path: Path) -> None:
    (tmp_path / "SHA256SUMS").write_text("x")
    with pytest.raises(ReleaseError, match=r"none does not sign: .*"):
        signing.sign(tmp_path / "SHA256SUMS", tmp_path / "none")


def test_programs_that_lack_are_told() -> None:
    with pytest.raises(ReleaseError, match=r"etcd: not built here, so that the bill would lack them. Run `make setup`"):
        making.check_programs([], {"etcd"})


def test_a_package_that_does_not_build_says_why(project: Path, tools: Tools, tmp_path: Path) -> None:
    (project / "pyproject.toml").write_text(PROJECT.replace('"thing"', '"nothing"'))
    git(project, "commit", "--quiet", "--all", "--message", "second")
    with pytest.raises(ReleaseError, match="the packages were not built:\n"):
        packages.build(tools.uv, tools.python, source.current(project, "1.2.3"), tmp_path / "work", tmp_path / "to")
