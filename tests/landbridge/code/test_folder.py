"""What a folder is as a run's code, and why one is refused."""

import os
import socket
import subprocess
from contextlib import AbstractContextManager
from io import BufferedReader
from pathlib import Path

import pytest

from fleet.team_code import MIB, Link, digest
from landbridge.code import folder as folders
from landbridge.code.folder import Folder, Limits, scan
from landbridge.code.stat_cache import Seen, Stamp, StatCache, stamp
from landbridge.errors import LandbridgeError, UsageError

# Split, so that nobody takes them for secrets.
PRIVATE = "-----BEGIN RSA PRIV" + "ATE KEY-----\n" + "MIIEpAIBAAKCAQEA" * 4 + "\n"
AWS = "aws_access_key_id = AKIA" + "Q" * 16 + "\naws_secret_access_key = " + "wJalrXUtnF" * 4 + "\n"


def git(root: Path, *words: str) -> None:
    who = ("-c", "user.name=x", "-c", "user.email=x@example.com")
    subprocess.run(["git", *who, *words], cwd=root, check=True, capture_output=True)


def committed(root: Path) -> None:
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "commit", "-qm", "first")


def scanned(root: Path, limits: Limits | None = None, allow: tuple[str, ...] = ()) -> Folder:
    return scan(root, limits or Limits(), allow, root.parent / "cache")


def refusal(root: Path, limits: Limits | None = None, allow: tuple[str, ...] = ()) -> str:
    with pytest.raises(UsageError) as raised:
        scanned(root, limits, allow)
    return str(raised.value)


def paths(found: Folder) -> list[str]:
    return [one.path for one in found.files]


def test_without_git_all_is_code_but_what_tools_made(root: Path) -> None:
    for name in (".venv/x.py", "node_modules/x.js", "model/__pycache__/net.pyc", ".git/config"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x")
    (root / "run.sh").write_text("")
    (root / "run.sh").chmod(0o700)
    (root / ".landbridge-code").write_text("of a pod")
    (root / ".git/config").unlink()
    found = scanned(root)
    assert paths(found) == ["model/net.py", "run.sh", "train.py"]
    assert [one.mode for one in found.files] == [0o644, 0o755, 0o644]
    assert found.files[0].sha256 == digest(b"LAYERS = 3\n")
    assert (found.commit, found.dirty, found.diff) == (None, True, b"")


def test_git_says_what_is_code(root: Path) -> None:
    (root / ".gitignore").write_text("*.ckpt\n")
    (root / "gone.py").write_text("")
    committed(root)
    (root / "gone.py").unlink()
    (root / "last.ckpt").write_text("x")
    (root / "new ünit.py").write_text("x")
    assert paths(scanned(root)) == [".gitignore", "model/net.py", "new ünit.py", "train.py"]
    assert paths(scanned(root / "model")) == ["net.py"], "a folder in a repository is code for itself"


def test_submodules_and_repositories_within_are_code_too(root: Path, tmp_path: Path) -> None:
    library = tmp_path / "library"
    library.mkdir()
    (library / "lib.py").write_text("x")
    committed(library)
    committed(root)
    git(root, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(library), "vendored")
    (root / "scratch").mkdir()
    (root / "scratch/note.py").write_text("x")
    git(root / "scratch", "init", "-q")
    assert {"vendored/lib.py", "scratch/note.py"} <= set(paths(scanned(root)))
    assert not [path for path in paths(scanned(root)) if ".git/" in path or path.endswith("/.git")]


def test_the_commit_and_what_was_changed_since(root: Path) -> None:
    (root / ".env").write_text("PASSWORD=hidden\n")
    committed(root)
    (root / ".env").unlink()
    git(root, "commit", "-qam", "second")
    clean = scanned(root)
    assert clean.commit
    assert len(clean.commit) == 40
    assert (clean.dirty, clean.diff) == (False, b"")
    (root / "train.py").write_text("print('better')\n")
    changed = scanned(root)
    assert (changed.commit, changed.dirty, changed.diff_whole) == (clean.commit, True, True)
    assert b"+print('better')" in changed.diff
    (root / "train.py").write_text("x = 1\n" * 250_000)
    cut = scanned(root)
    assert (len(cut.diff), cut.diff_whole) == (MIB, False)
    (root / "train.py").write_text("x = 1\n" * MIB)
    large = scanned(root)
    assert (large.dirty, large.diff, large.diff_whole) == (True, b"", False)
    git(root, "checkout", "-q", ".")
    (root / "new.py").write_text("x")
    assert (scanned(root).dirty, scanned(root).diff) == (True, b"")


def test_a_secret_that_was_deleted_is_in_no_diff(root: Path) -> None:
    (root / ".env").write_text("PASSWORD=hidden\n")
    committed(root)
    (root / ".env").unlink()
    assert scanned(root).dirty
    assert b"hidden" not in scanned(root).diff
    (root / "settings.txt").write_text(AWS)
    git(root, "add", ".")
    git(root, "commit", "-qm", "oh")
    (root / "settings.txt").write_text("")
    assert "the changes since git's last commit hold an access key of AWS" in refusal(root)


def test_all_that_is_wrong_is_said_at_once(root: Path, tmp_path: Path) -> None:
    (root / ".env.local").write_text("X=1")
    (root / "id_ed25519").write_text("x")
    (root / "server.pem").write_text(PRIVATE)
    (root / "notes.txt").write_text(AWS)
    (root / "out").symlink_to(tmp_path / "elsewhere")
    (root / "up").symlink_to("../elsewhere")
    os.mkfifo(root / "pipe")
    (root / "closed.py").write_text("x")
    (root / "closed.py").chmod(0)
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(os.path.relpath(root / "sock"))
        said = refusal(root)
    lines = {line.strip().partition(": ")[0]: line for line in said.splitlines()[1:]}
    assert said.startswith(f"{root} can't be a run's code; nothing was sent:\n")
    assert "it looks like settings of an environment" in lines[".env.local"]
    assert "under code: {allow: [.env.local]}." in lines[".env.local"]
    assert "it looks like a private key of SSH" in lines["id_ed25519"]
    assert "it looks like a private key." in lines["server.pem"]
    assert "it looks like an access key of AWS with its secret" in lines["notes.txt"]
    assert f"it leads out of the folder, to {tmp_path}/elsewhere. Remove it" in lines["out"]
    assert "it leads out of the folder, to ../elsewhere" in lines["up"]
    assert "it is a pipe" in lines["pipe"]
    assert "it is a socket" in lines["sock"]
    if os.geteuid():
        assert "it can't be read: Permission denied" in lines["closed.py"]


@pytest.mark.parametrize(
    ("name", "text", "refused"),
    [
        (".env", "", True),
        ("deep/.ENV.production", "", True),
        (".env.example", "X=", False),
        ("id_rsa", "", True),
        ("id_rsa.pub", "ssh-rsa AAAA", False),
        ("ca.pem", "-----BEGIN CERTIFICATE-----\nMIIE", False),
        ("tls.key", PRIVATE, True),
        ("tokens.key", "a: b", False),
        ("store.p12", "\0", True),
        (".netrc", "", True),
        (".pgpass", "", True),
        (".aws/credentials", "", True),
        ("credentials", "words", False),
        ("office.ovpn", "", True),
        (".kube/config", "", True),
        ("kubeconfig", "", True),
        ("admin.yaml", "apiVersion: v1\nkind: Config\nusers:\n- user:\n    token: abc\n", True),
        ("config.yaml", "kind: Config\nname: x\n", False),
        ("robot.json", '{"type": "service_account", "private_key": "x"}', True),
        ("robot.json", '{"k": "' + PRIVATE.replace("\n", "\\n") + '"}', True),
        ("pki.py", "BEGIN = '-----BEGIN PRIV" + "ATE KEY-----'\nEND = 1\n", False),
        ("late.txt", "x" * 60_000 + AWS, True),
        ("docs.md", "AKIAIOSFODNN7EXAMPLE " + "wJalrXUtnF" * 4, False),
        ("ids.txt", "AKIA" + "Q" * 16 + " " + "0123456789abcdef" * 2 + "01234567", False),
    ],
)
def test_what_looks_like_a_secret(root: Path, name: str, text: str, refused: bool) -> None:
    (root / name).parent.mkdir(exist_ok=True)
    (root / name).write_text(text)
    if refused:
        assert f"{name}: it looks like " in refusal(root)
        assert name in paths(scanned(root, allow=(name,)))
    else:
        assert name in paths(scanned(root))


def test_a_folder_of_3_gb_is_refused_before_a_byte_is_read(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "data").mkdir()
    for n in range(30):
        with (root / f"data/{n}.bin").open("wb") as file:
            file.truncate(100 * MIB)
    with (root / "model.bin").open("wb") as file:
        file.truncate(100 * MIB + 1)
    monkeypatch.setattr(folders, "_read", lambda *_: pytest.fail("something was read"))
    said = refusal(root)
    assert "model.bin: it has 101 MiB, and a file of code has at most 100. Move it out of the folder, or" in said
    assert "data belongs in a share or a bucket, not in code. Or raise code: {file_mib: 101} in run.yaml." in said
    assert "they have 3101 MiB, and code has at most 1024. The largest: data/ 3000 MiB, model.bin 101 MiB, " in said
    assert "Or raise code: {tree_mib: 3101} in run.yaml." in said
    git(root, "init", "-q")
    assert "Name it in .gitignore; data belongs" in refusal(root)


def test_limits_are_those_of_the_run(root: Path) -> None:
    with (root / "model.bin").open("wb") as file:
        file.truncate(2 * MIB)
    assert "model.bin: it has 2 MiB, and a file of code has at most 1." in refusal(root, Limits(file_mib=1))
    assert "they have 3 MiB, and code has at most 2." in refusal(root, Limits(tree_mib=2))
    assert "model.bin" in paths(scanned(root, Limits(file_mib=2, tree_mib=3)))


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert "has no files that are code: it is empty. Name the folder" in refusal(tmp_path / "empty")
    assert "is no folder" in refusal(tmp_path / "absent")


def test_names_that_no_tree_can_have(root: Path) -> None:
    (Path(os.fsdecode(os.fsencode(root) + b"/caf\xe9.py"))).write_text("x")
    assert "caf\\udce9.py: its name is not UTF-8. Rename it." in refusal(root)


def test_links_that_stay_inside(root: Path) -> None:
    (root / "model/weights").symlink_to("../train.py")
    (root / "model/all").symlink_to("..")
    (root / "absolute").symlink_to(root / "model/net.py")
    (root / "winding").symlink_to("model/../train.py")
    assert scanned(root).links == (
        Link("absolute", "model/net.py"),
        Link("model/all", ".."),
        Link("model/weights", "../train.py"),
        Link("winding", "train.py"),
    )


def test_a_second_look_reads_what_has_changed_alone(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("landbridge.code.stat_cache.RACY_SECONDS", -1000)
    first = scanned(root)
    read: list[str] = []
    whole = folders.opened

    def noted(root: Path, path: str, then: Stamp) -> AbstractContextManager[BufferedReader]:
        read.append(path)
        return whole(root, path, then)

    monkeypatch.setattr(folders, "opened", noted)
    assert scanned(root) == first
    assert read == []
    (root / "train.py").write_text("print('TRAINED')\n")
    assert scanned(root) != first
    assert read == ["train.py"]
    (cached,) = (root.parent / "cache").iterdir()
    assert (cached.stat().st_mode & 0o777, cached.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    cached.write_text("damaged")
    assert paths(scanned(root)) == paths(first)


def test_what_was_read_right_after_it_was_written_is_read_again(tmp_path: Path) -> None:
    """It may be written once more in the same tick of the file system's clock."""
    file = tmp_path / "file"
    file.write_text("x")
    then = stamp(file.stat())
    cache = StatCache(tmp_path / "cache", tmp_path)
    for seconds, kept in ((0.0, False), (1.9, False), (2.1, True)):
        cache.keep("file", then, Seen("a" * 64, ""), then.changed_ns + int(seconds * 1e9))
        cache.save()
        again = StatCache(tmp_path / "cache", tmp_path)
        assert (again.seen("file", then) is not None) == kept
    assert again.seen("file", then._replace(inode=1)) is None


def test_a_change_in_the_same_tick_is_seen(root: Path) -> None:
    first = scanned(root)
    file = root / "train.py"
    times = file.stat()
    file.write_text("print('TRAINED')\n")
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert file.stat().st_size == times.st_size
    assert scanned(root).files[1].sha256 != first.files[1].sha256


def test_a_file_that_changes_while_it_is_read_ends_the_launch(root: Path) -> None:
    file = root / "train.py"
    then = stamp(file.stat())
    changed = pytest.raises(LandbridgeError, match=r"train\.py changed while it was read; nothing was launched")
    with changed, folders.opened(root, "train.py", then):
        file.write_text("longer than it was, in any case\n")
