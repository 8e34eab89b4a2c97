"""What `pip install` makes of the repository: a wheel with one import name and all data, from which everything runs."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.test_house import ROOT, tracked

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
VERSION = PROJECT["project"]["version"]
WHEEL = PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]
HOUSE = "landbridge/house/"
# Of the repository's folders these are of no use without it.
LEFT_OUT = {"bench", "docs", "examples", "tests"}
FLEET = """\
fleet: small
owner: ops
domain: small.example.com
supernet: 10.128.0.0/12
aws: {account_id: "123456789012"}
regions:
  us-west-2: {cloud: aws, zones: [a]}
teams:
  ops: {gid: 2000}
"""


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built without the network, by what `make setup` has installed."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    (made,) = folder.glob("*.whl")
    return made


def test_a_wheel_has_one_name_and_every_file_of_its_folders(wheel: Path) -> None:
    """Also the rights of programs: `local/plugins/` has some that Pulumi starts."""
    with zipfile.ZipFile(wheel) as archive:
        laid = {one.filename: one.external_attr >> 16 for one in archive.infolist()}
    information = f"landbridge-{VERSION}.dist-info"
    assert {name.partition("/")[0] for name in laid} == {"landbridge", information}
    there = {name.removeprefix(HOUSE): mode for name, mode in laid.items() if not name.startswith(information)}
    folders = {path.relative_to(ROOT).parts[0] for path in tracked("*/*")}
    assert {*WHEEL["only-include"]} == {one for one in folders if not one.startswith(".")} - LEFT_OUT
    wanted = {*tracked(*(f"{one}/*" for one in WHEEL["only-include"])), *(ROOT / one for one in WHEEL["force-include"])}
    lacking = {str(path.relative_to(ROOT)) for path in wanted} - there.keys()
    assert lacking == set()
    own = {str(path.relative_to(ROOT)): path for path in wanted}
    assert [name for name, path in own.items() if bool(path.stat().st_mode & 0o100) != bool(there[name] & 0o100)] == []


def test_no_file_lies_in_a_wheel_twice(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert len(names) == len(set(names))
    assert [name for name in names if name.startswith((f"{HOUSE}landbridge/", f"{HOUSE}house/"))] == []


class Installed:
    """The wheel in an environment of its own, which sees our dependencies; and a user in an empty folder."""

    def __init__(self, wheel: Path, folder: Path) -> None:
        self.home, self.work, self.environment = folder / "home", folder / "work", folder / "environment"
        for one in (self.home, self.work):
            one.mkdir()
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", self.environment], check=True)
        self.bin = self.environment / "bin"
        uv = [Path(sys.executable).with_name("uv"), "pip", "install", "--quiet", "--offline", "--no-deps"]
        subprocess.run([*uv, "--python", self.bin / "python", wheel], check=True)
        packages = self.environment / "lib" / f"python{sysconfig.get_python_version()}" / "site-packages"
        # Packages alone: what an editable install has put beside them counts where Python itself looks for it.
        theirs = [one for one in sys.path if Path(one).name == packages.name]
        (packages / "dependencies.pth").write_text("".join(f"{one}\n" for one in theirs))
        self.packages = packages

    @property
    def variables(self) -> dict[str, str]:
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "XDG_", "LANDBRIDGE"))
        }
        state, data = self.home / "state", self.home / "data"
        cache = {"XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache"))}
        return {**kept, **cache, "XDG_STATE_HOME": str(state), "XDG_DATA_HOME": str(data), "COLUMNS": "200"}

    def run(self, program: str, *words: str, code: int = 0, seconds: float = 120) -> "subprocess.CompletedProcess[str]":
        done = subprocess.run(
            [self.bin / program, *words],
            cwd=self.work,
            env=self.variables,
            capture_output=True,
            text=True,
            check=False,
            timeout=seconds,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done

    def python(self, text: str) -> list[str]:
        return list(json.loads(self.run("python", "-c", f"import json\n{text}").stdout))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    made = Installed(wheel, tmp_path_factory.mktemp("installed"))
    yield made
    if (made.home / "state/landbridge/local").exists():
        made.run("landbridge", "local", "forget", "--yes")


def test_programs_of_others_see_one_name_only(installed: Installed) -> None:
    ours = [*(one for one in WHEEL["only-include"] if one != "landbridge"), "installation", "kube_http"]
    find = f"from importlib.util import find_spec\nprint(json.dumps([n for n in {ours} if find_spec(n)]))"
    assert installed.python(find) == []
    assert installed.python(f"import landbridge\n{find}") == ours


def test_state_and_programs_lie_where_xdg_says(installed: Installed) -> None:
    told = installed.python(
        "import landbridge, installation as it\n"
        "print(json.dumps([str(it.TREE), str(it.STATE), str(it.PROGRAMS), it.SETUP, it.SETUP_LOCAL]))"
    )
    assert told == [
        str(installed.packages / "landbridge/house"),
        str(installed.home / "state/landbridge"),
        str(installed.home / f"data/landbridge/{VERSION}"),
        "`landbridge setup`",
        "`landbridge setup --local`",
    ]


def test_commands_run_in_an_empty_folder(installed: Installed) -> None:
    assert installed.run("landbridge", "--version").stdout == f"landbridge {VERSION}\n"
    assert "Brings stacks to what fleet.yaml says" in installed.run("landbridge", "--help").stdout
    assert "fleet.yaml: there is none in" in installed.run("landbridge", "plan", code=2).stderr
    (installed.work / "fleet.yaml").write_text(FLEET)
    installed.run("landbridge", "plan", "--write")
    assert installed.run("landbridge", "plan", "--check").stdout == "fleet.lock.yaml fits fleet.yaml.\n"
    if shutil.which("pulumi"):
        return
    lacking = installed.run("landbridge", "preview", "--local", code=2).stderr
    assert "Run `landbridge setup`, or `landbridge setup --local` for the local cloud." in lacking


@pytest.mark.cloud
def test_the_local_cloud_comes_up_from_a_wheel(installed: Installed) -> None:
    """Its programs are those that `make setup` has built, so that nothing is built here."""
    told = installed.run("landbridge", "setup", "--local", seconds=300).stdout
    assert "from source" not in told
    assert "man pages" not in told
    assert (installed.environment / "share/man/man1/landbridge-pool-roll.1").read_text().startswith(".TH")
    (installed.work / "fleet.yaml").write_text(FLEET)
    installed.run("landbridge", "plan", "--write")
    installed.run("landbridge", "up", "--local", "--yes", seconds=500)
    again = installed.run("landbridge", "up", "--local", "--yes", "--expect-no-changes", seconds=500).stdout
    assert "Nothing changed" in again
    project = installed.home / "state/landbridge/local/small"
    assert (project / "__main__.py").read_text() == 'from landbridge import program\n\nprogram("stacks")\n'
    assert sorted(path.name for path in installed.work.iterdir()) == ["fleet.lock.yaml", "fleet.yaml"]
    assert (installed.home / "state/landbridge/local/cloud.log").exists()
