"""Every directive of the published list is honoured: each has a case that fails if it is ignored."""

import queue
import re
import shutil
import subprocess
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from local import namespace
from local.machines.directives import TABLE

from .cases import CASES
from .host import Box, Host, Said
from .writing import Case

MACHINES = 3
NAMES = [f"{case.directive}-{number}" for number, case in enumerate(CASES)]


def test_every_directive_has_a_case() -> None:
    assert sorted({case.directive for case in CASES}) == sorted({directive.name for directive in TABLE})


@pytest.fixture(scope="module")
def outputs(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[Case, Future[Said]]]:
    """What the chosen cases' scripts say. They mostly wait, so several machines take them side by side."""
    parameters = [item.callspec.params for item in request.session.items if hasattr(item, "callspec")]
    chosen = [found["case"] for found in parameters if "case" in found]
    make = ["unshare", *namespace.usable_mode().make]
    hosts = [Host(tmp_path_factory.mktemp("directives"), make) for _ in range(MACHINES)]
    boxes: queue.SimpleQueue[Box] = queue.SimpleQueue()
    for host in hosts:
        boxes.put(host.machine("units", "10.132.0.100/20", users=["builder", "crew"]))

    def run(case: Case) -> Said:
        box = boxes.get()
        try:
            box.clear()
            box.lay(case.units)
            return box.sh(f"systemctl daemon-reload && {{ {case.script}; }}")
        finally:
            boxes.put(box)

    with ThreadPoolExecutor(MACHINES) as pool:
        yield {case: pool.submit(run, case) for case in chosen}
    for host in hosts:
        host.close()


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_it_is_honoured(outputs: dict[Case, Future[Said]], case: Case) -> None:
    said = outputs[case].result()
    assert re.fullmatch(case.says, said.out.strip()), said


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not installed")
@pytest.mark.parametrize("chunk", range(4))
def test_systemd_finds_nothing_wrong_with_these_units(tmp_path: Path, chunk: int) -> None:
    files = []
    for number, case in list(enumerate(CASES))[chunk::4]:
        for name, text in case.units.items():
            folder = tmp_path / str(number)
            folder.mkdir(exist_ok=True)
            # Both are wrong on purpose, and systemd says so too.
            if "/missing" not in text and "missing.service" not in text:
                (folder / name).write_text(text)
                files.append(folder / name)
    told = [
        subprocess.run(
            ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", *map(str, folder.iterdir())],
            capture_output=True,
            text=True,
            check=False,
        )
        for folder in {file.parent for file in files}
    ]
    ours = [
        line for done in told for line in done.stderr.splitlines() if str(tmp_path) in line or re.match(r"[ab]\.", line)
    ]
    assert ours == []
    assert all(done.returncode == 0 for done in told)
