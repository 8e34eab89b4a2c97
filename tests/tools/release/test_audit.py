"""Real pip-audit and govulncheck against databases of our own: what they find, and that no answer is no pass."""

import datetime
import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from progress import Progress
from release import asking, audit, needed, programs
from release.audit import Audit
from release.errors import FOUND, SILENT, SilentSourceError
from release.programs import Program
from release.weaknesses import Weakness
from running import cache_folder

from tests.support.apiserver import free_port

from . import ROOT

DAY = datetime.date(2026, 6, 30)
LOCK = f"click==8.5.1 \\\n    --hash=sha256:{64 * 'a'}\nidna==3.10 \\\n    --hash=sha256:{64 * 'b'}\n"
Osv = Callable[[dict[str, list[dict[str, Any]]]], str]


def weakness(name: str, ecosystem: str, **affected: Any) -> dict[str, Any]:
    """As OSV has one that was mended in 99.0.0."""
    kind = "SEMVER" if ecosystem == "Go" else "ECOSYSTEM"
    ranges = [{"type": kind, "events": [{"introduced": "0"}, {"fixed": "99.0.0"}]}]
    return {
        "id": f"TEST-{name}",
        "schema_version": "1.3.1",
        "aliases": ["CVE-2026-1"],
        "summary": "it breaks",
        "details": "it breaks",
        "published": "2026-01-01T00:00:00Z",
        "modified": "2026-01-01T00:00:00Z",
        "affected": [{"package": {"name": name, "ecosystem": ecosystem}, "ranges": ranges, **affected}],
    }


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    file = tmp_path / "requirements.lock"
    file.write_text(LOCK)
    return file


def test_a_package_that_is_known_to_be_weak_is_found(audit_tools: Path, osv: Osv, lock: Path) -> None:
    url = osv({"click": [weakness("click", "PyPI", versions=["8.5.1"]) | {"id": "PYSEC-2026-1"}]})
    (found,) = asking.of_packages(audit_tools / "pip-audit", lock, "requirements.lock", url)
    assert found[:4] == ("requirements.lock", "click", "8.5.1", ("PYSEC-2026-1", "CVE-2026-1"))
    assert found.mended_in.startswith("99")


def test_packages_of_which_nothing_is_known_pass(audit_tools: Path, osv: Osv, lock: Path) -> None:
    assert asking.of_packages(audit_tools / "pip-audit", lock, "requirements.lock", osv({})) == []


def test_no_answer_about_packages_is_no_pass(audit_tools: Path, lock: Path) -> None:
    url = f"http://127.0.0.1:{free_port()}/v1/query"
    with pytest.raises(
        SilentSourceError, match=r"did not get an answer about a lock: .*Connection refused.* Nothing is"
    ):
        asking.of_packages(audit_tools / "pip-audit", lock, "a lock", url)


def test_the_status_tells_a_weakness_from_a_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "lacking", lambda _: ["kubelet"])
    run = Audit()
    status, lines = run.told(DAY, [], whole=False)
    assert status == 0
    assert lines[0].startswith("Not built here, and not looked at: kubelet.")
    assert run.told(DAY, [], whole=True)[0] == SILENT
    run.silent.append("nobody there")
    status, lines = run.told(DAY, [], whole=False)
    assert status == SILENT
    assert lines[:2] == ["Not known:", "  nobody there"]
    assert lines[-1].endswith("NOT PASSED: not everything was answered")
    run.found.append(Weakness("etcd", "m", "v1", ("GO-2026-1",), "", "it breaks"))
    assert run.told(DAY, [], whole=False)[0] == FOUND, "what is known to be wrong comes first"


HELLO = 'package main\n\nimport "fmt"\n\nfunc main() { fmt.Println("hello") }\n'


@pytest.fixture(scope="module")
def go() -> str:
    return shutil.which("go") or pytest.skip("builds a tiny program with the Go on the PATH")


@pytest.fixture
def database(tmp_path: Path) -> str:
    """Go's form of a database, in a folder: of fmt, which the program calls, and net/http, which it doesn't."""
    entries = [
        weakness("stdlib", "Go", ecosystem_specific={"imports": [{"path": path, "symbols": [name]}]}) | {"id": id_}
        for id_, path, name in (("GO-2026-1", "fmt", "Println"), ("GO-2026-2", "net/http", "Get"))
    ]
    brief = [{"id": one["id"], "modified": one["modified"], "fixed": "99.0.0"} for one in entries]
    files = {
        "index/db.json": {"modified": entries[0]["modified"]},
        "index/modules.json": [{"path": "stdlib", "vulns": brief}],
        "index/vulns.json": [{**one, "aliases": []} for one in brief],
        **{f"ID/{one['id']}.json": one for one in entries},
    }
    for name, content in files.items():
        (tmp_path / "db" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "db" / name).write_text(json.dumps(content))
    return f"file://{tmp_path}/db"


def built(go: str, folder: Path, *flags: str) -> Program:
    """A tiny program, where set-up would link it."""
    place = folder / ".landbridge/bin"
    place.mkdir(parents=True, exist_ok=True)
    (folder / "go.mod").write_text("module example.com/hello\n\ngo 1.26\n")
    (folder / "main.go").write_text(HELLO)
    (place / "script").write_text("#!/bin/sh\n")
    subprocess.run([go, "build", *flags, "-o", place / "hello", "."], cwd=folder, check=True)
    (found,) = programs.built(folder, go)
    return found


def test_a_program_says_what_it_is_made_of(go: str, tmp_path: Path) -> None:
    found = built(go, tmp_path, "-trimpath")
    assert (found.name, found.package, found.modules) == ("hello", "example.com/hello", ())
    assert dict(found.settings)["-trimpath"] == "true"
    assert "hello" not in programs.lacking([found])
    assert {"kubelet", "kube-apiserver-1.35.8", "etcd"} <= set(programs.lacking([found]))


def test_modules_are_read_with_what_stands_in_their_place() -> None:
    told = (
        "/b/etcd: go1.26.8\n\tpath\tgo.etcd.io/etcd/server/v3\n\tmod\texample.com/tools\t(devel)\t\n"
        "\tdep\texample.com/b\tv2.0.0\th1:bb=\n\tdep\texample.com/a\tv1.0.0\n\t=>\texample.com/fork\tv1.0.1\th1:ff=\n"
        "\tbuild\t-trimpath=true\n/b/script: could not read Go build info\n"
    )
    (found,) = programs.read(told, {Path("/b/etcd"): "etcd"})
    assert found.go == "1.26.8"
    assert found.modules == (("example.com/b", "v2.0.0", "h1:bb="), ("example.com/fork", "v1.0.1", "h1:ff="))


@pytest.mark.matrix  # govulncheck is built from source, by `make audit` or here
def test_a_program_is_told_of_what_it_calls_and_of_all_where_it_has_no_symbols(
    go: str, tmp_path: Path, database: str
) -> None:
    program = needed.govulncheck(ROOT, cache_folder(), ROOT / ".landbridge/logs/release", Progress())
    whole = asking.of_program(program, built(go, tmp_path), database)
    assert [(one.where, one.part, one.names) for one in whole] == [("hello", "stdlib", ("GO-2026-1", "CVE-2026-1"))]
    stripped = asking.of_program(program, built(go, tmp_path, "-ldflags=-s -w"), database)
    assert [one.names[0] for one in stripped] == ["GO-2026-1", "GO-2026-2"]
    with pytest.raises(SilentSourceError, match=r"did not get an answer about hello: .* Nothing is known of it"):
        asking.of_program(program, built(go, tmp_path), f"http://127.0.0.1:{free_port()}")
