"""How a pod gets its code, and what it does not take for it."""

import io
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError, ConnectTimeoutError, EndpointConnectionError, IncompleteReadError

from fleet.team_code import MIB, File, Link, Part, Tree, digest, pack_key, tree_key, write
from services.code.errors import AwayError, FetchError
from services.code.fetch import HALF, Fetched, fetch
from services.code.pack_cache import PackCache
from services.code.patience import patiently
from services.code.reading import readings
from services.code.source import Source, place

PREFIX = "teams/research/code/"


class S3:
    """As much of boto3's client as a fetch asks; `asked` are keys with ranges."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.asked: list[tuple[str, str]] = []
        self.refusing = self.listing = True
        self.breaks = 0
        self.away: list[Exception] = []

    def put(self, key: str, data: bytes) -> None:
        self.objects[PREFIX + key] = data

    def get_object(self, Bucket: str, Key: str, Range: str = "") -> Any:  # noqa: N803
        assert Bucket == "bucket"
        self.asked.append((Key.removeprefix(PREFIX), Range))
        if self.away:
            raise self.away.pop()
        if Key not in self.objects:
            code = "AccessDenied" if self.refusing else "NoSuchKey"
            raise ClientError({"Error": {"Code": code, "Message": "no"}}, "GetObject")
        data = self.objects[Key]
        if Range:
            start, end = Range.removeprefix("bytes=").split("-")
            data = data[int(start) : int(end) + 1]
        if self.breaks and Range:
            self.breaks -= 1
            return {"Body": Breaking(data[: len(data) // 2])}
        return {"Body": io.BytesIO(data)}

    def list_objects_v2(self, Bucket: str, Prefix: str, MaxKeys: int) -> Any:  # noqa: N803
        if not self.listing:
            raise ClientError({"Error": {"Code": "AccessDenied"}}, "ListObjectsV2")
        return {"KeyCount": sum(key.startswith(Prefix) for key in self.objects)}


class Breaking(io.BytesIO):
    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(size) or self._end()

    def _end(self) -> bytes:
        raise IncompleteReadError(actual_bytes=1, expected_bytes=2)


@pytest.fixture
def s3() -> S3:
    return S3()


def packed(s3: S3, contents: dict[str, bytes], pad: bytes = b"") -> dict[str, File]:
    """Files of one pack, with `pad` before each."""
    data, where = b"", {}
    for path, content in contents.items():
        data += pad
        where[path] = len(data)
        data += content
    pack = digest(data)
    s3.put(pack_key(pack), data)
    sizes[pack] = len(data)
    return {
        path: File(
            path, 0o644, len(content), digest(content), (Part(pack, where[path], len(content)),) if content else ()
        )
        for path, content in contents.items()
    }


sizes: dict[str, int] = {}


def planted(s3: S3, *files: File, links: tuple[Link, ...] = ()) -> str:
    """A tree's URL."""
    data = write(Tree(files, links, {part.pack: sizes[part.pack] for one in files for part in one.parts}))
    s3.put(tree_key(digest(data)), data)
    return f"s3://bucket/{PREFIX}trees/{digest(data)}.json"


def fetched(s3: S3, url: str, into: Path, cache: Path | None = None) -> Fetched:
    return fetch(Source(place(url), lambda: s3), into, PackCache(cache) if cache else None)


def failed(s3: S3, url: str, into: Path, cache: Path | None = None) -> str:
    with pytest.raises(FetchError) as raised:
        fetched(s3, url, into, cache)
    assert not into.exists() or not list(into.iterdir()), "nothing is left that could be taken for code"
    return str(raised.value)


def contents(into: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(into)): path.read_bytes()
        for path in into.rglob("*")
        if path.is_file() and path.name != ".landbridge-code"
    }


def test_files_have_their_modes_and_links_their_targets(s3: S3, tmp_path: Path) -> None:
    files = packed(s3, {"a/run.sh": b"#!/bin/sh\n", "a/b/net.py": b"LAYERS = 3\n", "empty": b""})
    script = File("a/run.sh", 0o755, 10, files["a/run.sh"].sha256, files["a/run.sh"].parts)
    copy = File("copy.sh", 0o644, 10, script.sha256, script.parts)
    links = (Link("a/b/up", "../run.sh"), Link("deep/link", "nowhere"))
    url = planted(s3, script, copy, files["a/b/net.py"], files["empty"], links=links)
    assert fetched(s3, url, tmp_path / "code") == Fetched(4, 31)
    into = tmp_path / "code"
    assert contents(into) == {
        "a/run.sh": b"#!/bin/sh\n",
        "a/b/up": b"#!/bin/sh\n",
        "a/b/net.py": b"LAYERS = 3\n",
        "copy.sh": b"#!/bin/sh\n",
        "empty": b"",
    }
    assert ((into / "a/run.sh").stat().st_mode & 0o777, (into / "copy.sh").stat().st_mode & 0o777) == (0o755, 0o644)
    assert (str((into / "a/b/up").readlink()), str((into / "deep/link").readlink())) == ("../run.sh", "nowhere")
    assert (into / ".landbridge-code").read_text() == place(url).digest + "\n"


def test_most_of_a_pack_is_asked_for_whole_and_little_in_ranges(s3: S3, tmp_path: Path) -> None:
    files = packed(s3, {str(n): bytes([n]) * 1000 for n in range(5)}, pad=b"x" * (2 * MIB))
    url = planted(s3, files["0"], files["1"], files["4"])
    fetched(s3, url, tmp_path / "few")
    assert len(s3.asked) == 4
    assert contents(tmp_path / "few")["4"] == b"\x04" * 1000
    s3.asked.clear()
    files = packed(s3, {str(n): bytes([n]) * 3_000_000 for n in range(5)}, pad=b"x" * (2 * MIB))
    fetched(s3, planted(s3, *files.values()), tmp_path / "most")
    assert len(s3.asked) == 2


def test_bytes_that_two_contents_share_are_asked_for_twice() -> None:
    pack = "a" * 64
    files = tuple(File(str(n), 0o644, 6, str(n) * 64, (Part(pack, n, 6),)) for n in range(2))
    ((one, other),) = readings(Tree(files, (), {pack: 8})).values()
    assert [(r.start, r.end) for r in (one, other)] == [(0, 6), (1, 7)]


def test_a_file_in_several_packs_is_judged_as_a_whole(s3: S3, tmp_path: Path) -> None:
    halves = packed(s3, {"a": os.urandom(MIB)}) | packed(s3, {"b": os.urandom(MIB + 7)})
    parts = halves["a"].parts + halves["b"].parts
    whole = b"".join(s3.objects[PREFIX + pack_key(part.pack)] for part in parts)
    url = planted(s3, File("whole", 0o644, len(whole), digest(whole), parts))
    fetched(s3, url, tmp_path / "code")
    assert contents(tmp_path / "code") == {"whole": whole}
    s3.put(pack_key(parts[1].pack), b"x" * (MIB + 7))
    assert "whole, which begins in it, is not what the tree says" in failed(s3, url, tmp_path / "code")


def test_a_pack_that_was_changed_is_refused(s3: S3, tmp_path: Path) -> None:
    files = packed(s3, {"train.py": b"print('trained')\n", "net.py": b"x"})
    url, (pack,) = planted(s3, *files.values()), {part.pack for one in files.values() for part in one.parts}
    s3.put(pack_key(pack), b"print('TAINTED')\nx")
    said = failed(s3, url, tmp_path / "code")
    assert said == (
        f"s3://bucket/{PREFIX}packs/{pack} was changed or damaged: train.py in it is not what the tree says. "
        "Delete it, and launch again, which sends it"
    )
    said = failed(s3, url, tmp_path / "code", tmp_path / "cache")
    assert "the pack is not what its name says" in said
    assert not list((tmp_path / "cache/packs").iterdir())


def test_a_tree_that_was_changed_is_refused(s3: S3, tmp_path: Path) -> None:
    url = planted(s3, *packed(s3, {"train.py": b"x"}).values())
    s3.put(tree_key(place(url).digest), b"{}")
    assert "is not what its name says" in failed(s3, url, tmp_path / "code")
    s3.put(tree_key(digest(b"{}")), b"{}")
    assert "is no tree: a tree has the format 1" in failed(
        s3, f"s3://bucket/{PREFIX}trees/{digest(b'{}')}.json", tmp_path / "code"
    )


def test_an_answer_that_breaks_is_asked_for_again(s3: S3, tmp_path: Path) -> None:
    url = planted(s3, *packed(s3, {"train.py": b"print('trained')\n"}).values())
    s3.breaks = 2
    fetched(s3, url, tmp_path / "code")
    s3.breaks = 2
    fetched(s3, url, tmp_path / "other", tmp_path / "cache")
    assert contents(tmp_path / "code") == contents(tmp_path / "other") == {"train.py": b"print('trained')\n"}
    s3.breaks = 3
    assert "S3's answer ended early" in failed(s3, url, tmp_path / "third")


def answered(status: int) -> ClientError:
    told = {"Error": {"Code": "Some", "Message": "no"}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(told, "GetObject")  # type: ignore[arg-type]


def test_a_store_that_is_away_is_waited_for_and_one_that_refuses_is_not(
    s3: S3, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url = planted(s3, *packed(s3, {"train.py": b"print('trained')\n"}).values())
    away = [EndpointConnectionError(endpoint_url="x"), ConnectTimeoutError(endpoint_url="x"), answered(503)]
    slept: list[float] = []
    s3.away = [*away, answered(429)]
    patiently(lambda: fetched(s3, url, tmp_path / "code"), 1800, slept.append)
    assert contents(tmp_path / "code") == {"train.py": b"print('trained')\n"}
    assert slept == [2, 4, 8, 16]
    assert capsys.readouterr().err.splitlines()[-1].endswith(": trying again in 16 seconds")

    slept.clear()
    s3.away = [EndpointConnectionError(endpoint_url="x") for _ in range(100)]
    with pytest.raises(AwayError, match="can't be read"):
        patiently(lambda: fetched(s3, url, tmp_path / "never"), 200, slept.append)
    assert (sum(slept), max(slept)) == (200, 60)

    slept.clear()
    s3.away = [answered(400)]
    with pytest.raises(FetchError, match="can't be read"):
        patiently(lambda: fetched(s3, url, tmp_path / "refused"), 1800, slept.append)
    assert not slept


def test_a_pack_that_is_too_short_is_refused(s3: S3, tmp_path: Path) -> None:
    files = packed(s3, {"train.py": b"print('trained')\n"})
    url, pack = planted(s3, *files.values()), files["train.py"].parts[0].pack
    s3.put(pack_key(pack), b"print")
    assert "12 bytes that the tree names are missing" in failed(s3, url, tmp_path / "code")


@pytest.mark.parametrize(
    ("refusing", "listing", "there", "why"),
    [
        (False, True, False, "the code {tree} is not there any more: launch the run again, which sends it"),
        (True, True, False, "the code {tree} is not there any more"),
        (True, False, False, "the team's role may not read {tree}: it needs s3:GetObject below teams/research/code/"),
    ],
)
def test_who_may_not_and_what_is_not_there(
    s3: S3, tmp_path: Path, refusing: bool, listing: bool, there: bool, why: str
) -> None:
    """S3 says 403 in both cases to a role that may only list its own folder."""
    s3.refusing, s3.listing = refusing, listing
    url = f"s3://bucket/{PREFIX}trees/{'a' * 64}.json"
    assert failed(s3, url, tmp_path / "code").startswith(why.format(tree=url))


def test_a_pack_that_is_gone_is_named(s3: S3, tmp_path: Path) -> None:
    files = packed(s3, {"train.py": b"x"})
    url = planted(s3, *files.values())
    key = pack_key(files["train.py"].parts[0].pack)
    del s3.objects[PREFIX + key]
    said = failed(s3, url, tmp_path / "code")
    assert said.startswith(f"a pack of the code s3://bucket/{PREFIX}{key} is not there any more")


@pytest.mark.parametrize(
    "url", ["https://x/y", "s3://b/teams/x/code/trees/abc.json", f"s3://bucket/code/trees/{'a' * 64}.json"]
)
def test_what_is_no_tree_s_url(url: str) -> None:
    with pytest.raises(FetchError, match="is no tree of code: it is called s3://BUCKET/teams/TEAM/code/trees/"):
        place(url)


def test_a_folder_of_a_former_fetch_is_emptied_and_another_is_not(s3: S3, tmp_path: Path) -> None:
    url = planted(s3, *packed(s3, {"train.py": b"x"}).values())
    into = tmp_path / "code"
    into.mkdir()
    (into / "mine.txt").write_text("x")
    with pytest.raises(FetchError, match=r"has files that are not of a fetch, such as mine\.txt: name an empty folder"):
        fetched(s3, url, into)
    assert (into / "mine.txt").exists()
    (into / ".landbridge-code").write_text(HALF)
    (into / "deep").mkdir()
    (into / "deep/left").write_text("of a try that was killed")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/kept").touch()
    (into / "link").symlink_to(tmp_path / "outside")
    fetched(s3, url, into)
    assert contents(into) == {"train.py": b"x"}
    assert (tmp_path / "outside/kept").exists()


def test_with_all_in_the_cache_s3_is_not_asked(s3: S3, tmp_path: Path) -> None:
    url = planted(s3, *packed(s3, {"train.py": b"x", "net.py": b"y" * 5000}).values())
    fetched(s3, url, tmp_path / "first", tmp_path / "cache")

    def nobody() -> Any:
        pytest.fail("S3 was asked")

    again = Source(place(url), nobody)
    fetch(again, tmp_path / "second", PackCache(tmp_path / "cache"))
    assert contents(tmp_path / "first") == contents(tmp_path / "second")


@pytest.mark.parametrize("damage", [lambda path: path.write_bytes(b"tainted"), lambda path: path.unlink()])
def test_what_is_damaged_in_the_cache_comes_from_s3(s3: S3, tmp_path: Path, damage: Callable[[Path], None]) -> None:
    url = planted(s3, *packed(s3, {"train.py": b"x", "net.py": b"y" * 5000}).values())
    cache = tmp_path / "cache"
    fetched(s3, url, tmp_path / "first", cache)
    kept = sorted(path for path in cache.rglob("*") if path.is_file())
    assert len(kept) == 2
    whole = [path.read_bytes() for path in kept]
    for path in kept:
        damage(path)
    fetched(s3, url, tmp_path / "second", cache)
    assert contents(tmp_path / "first") == contents(tmp_path / "second")
    assert [path.read_bytes() for path in kept] == whole


def test_a_cache_that_can_not_be_used_is_done_without(
    s3: S3, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url = planted(s3, *packed(s3, {"train.py": b"x"}).values())
    (tmp_path / "cache").write_text("a file")
    fetched(s3, url, tmp_path / "code", tmp_path / "cache")
    assert contents(tmp_path / "code") == {"train.py": b"x"}
    assert capsys.readouterr().err == (
        f"code: {tmp_path}/cache can't be used as a cache: Not a directory: going on without\n"
    )


def test_a_cache_keeps_what_was_used_last(tmp_path: Path) -> None:
    cache = PackCache(tmp_path)
    data = [bytes([n]) * 1000 for n in range(5)]
    for n, one in enumerate(data):
        kept = cache.keep_pack(digest(one), iter([one]))
        assert kept is not None
        kept.close()
        os.utime(tmp_path / pack_key(digest(one)), (n, n))
    again = cache.pack(digest(data[0]))
    assert again is not None
    again.close()
    (tmp_path / "packs/.half").write_text("of a pod that was killed")
    (tmp_path / "packs/.now").write_text("of a pod that writes")
    os.utime(tmp_path / "packs/.half", (0, 0))
    cache.clean(2500)
    assert {path.name for path in (tmp_path / "packs").iterdir()} == {digest(data[0]), digest(data[4]), ".now"}


def test_pods_at_a_site_share_a_cache_at_once(s3: S3, tmp_path: Path) -> None:
    data = {str(n): os.urandom(100_000) for n in range(20)}
    url = planted(s3, *packed(s3, data).values())
    with ThreadPoolExecutor(6) as pool:
        done = list(pool.map(lambda n: fetched(s3, url, tmp_path / f"code{n}", tmp_path / "cache"), range(6)))
    assert done == [Fetched(20, 2_000_000)] * 6
    assert all(contents(tmp_path / f"code{n}") == data for n in range(6))
    assert len([path for path in (tmp_path / "cache").rglob("*") if path.is_file()]) == 2
