"""What travels from a folder to a bucket, and what does not."""

import os
from pathlib import Path
from typing import Any

import pytest

from fleet.team_code import MIB, PACK_BYTES, Part, Tree, digest, pack_key, parse, tree_key
from landbridge.code import packing
from landbridge.code.folder import Folder, Limits, Source, scan
from landbridge.code.known_packs import KnownPacks
from landbridge.code.packing import packed, to_keep
from landbridge.code.ship import Shipped, ship
from landbridge.code.stat_cache import Stamp
from landbridge.errors import LandbridgeError


class Store:
    """In memory. `asked` and `sent` are keys in their order."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.asked: list[str] = []
        self.sent: list[str] = []

    def exists(self, key: str) -> bool:
        self.asked.append(key)
        return key in self.objects

    def put(self, key: str, data: bytes) -> None:
        self.sent.append(key)
        self.objects[key] = data

    def read(self, key: str) -> bytes | None:
        return self.objects.get(key)


@pytest.fixture
def store() -> Store:
    return Store()


def scanned(root: Path) -> Folder:
    return scan(root, Limits(), (), root.parent / "cache")


def shipped(root: Path, store: Store, **more: Any) -> Shipped:
    return ship(scanned(root), store, KnownPacks(root.parent / "cache", "bucket", "research"), **more)


def tree(store: Store, done: Shipped) -> Tree:
    return parse(store.objects[tree_key(done.digest)])


def held(store: Store, done: Shipped) -> dict[str, bytes]:
    """The files of a tree, put together by hand."""
    return {
        one.path: b"".join(
            store.objects[pack_key(part.pack)][part.offset_bytes : part.offset_bytes + part.size_bytes]
            for part in one.parts
        )
        for one in tree(store, done).files
    }


def test_a_first_launch_sends_all_and_the_tree_last(root: Path, store: Store) -> None:
    (root / "copy.py").write_text("LAYERS = 3\n")
    (root / "empty.py").touch()
    (root / "link").symlink_to("train.py")
    told: list[tuple[int, int]] = []
    done = shipped(root, store, told=lambda *now: told.append(now))
    assert held(store, done) == {
        "copy.py": b"LAYERS = 3\n",
        "empty.py": b"",
        "model/net.py": b"LAYERS = 3\n",
        "train.py": b"print('trained')\n",
    }
    assert store.sent[-1] == tree_key(done.digest)
    assert done.digest == digest(store.objects[tree_key(done.digest)])
    assert (done.files, done.new_files, done.diff) == (4, 3, "")
    assert done.sent_bytes == sum(map(len, store.objects.values()))
    assert told == [(28, 28)], "the same content goes once"


def test_a_second_launch_sends_the_changed_file_alone(root: Path, store: Store) -> None:
    (root / "weights.bin").write_bytes(os.urandom(MIB))
    shipped(root, store)
    store.sent.clear()
    (root / "train.py").write_text("print('better')\n")
    done = shipped(root, store)
    (pack, its_tree) = store.sent
    assert store.objects[pack] == b"print('better')\n"
    assert its_tree == tree_key(done.digest)
    assert done.new_files == 1
    assert held(store, done)["train.py"] == b"print('better')\n"


def test_a_file_larger_than_a_pack_lies_in_several(root: Path, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "PACK_BYTES", 1000)
    data = os.urandom(3500)
    (root / "weights.bin").write_bytes(data)
    done = shipped(root, store)
    assert held(store, done)["weights.bin"] == data
    assert max(len(one) for key, one in store.objects.items() if key.startswith("packs/")) <= 1000
    assert shipped(root, store).sent_bytes == 0


def test_the_same_again_sends_nothing_and_asks_for_each_pack_once(root: Path, store: Store) -> None:
    first = shipped(root, store)
    store.sent.clear()
    store.asked.clear()
    again = shipped(root, store)
    assert (again.digest, again.sent_bytes, again.new_files, store.sent) == (first.digest, 0, 0, [])
    assert sorted(store.asked) == sorted(store.objects)


def test_what_was_deleted_in_the_bucket_is_sent_again(root: Path, store: Store) -> None:
    first = shipped(root, store)
    (pack,) = tree(store, first).packs
    del store.objects[pack_key(pack)]
    again = shipped(root, store)
    assert pack_key(pack) in store.objects
    assert (again.new_files, again.digest) == (2, first.digest)
    del store.objects[tree_key(first.digest)]
    store.sent.clear()
    assert shipped(root, store).new_files == 0
    assert store.sent == [tree_key(first.digest)]


def test_another_laptop_with_the_same_files_sends_nothing(root: Path, store: Store) -> None:
    first = shipped(root, store)
    store.sent.clear()
    other = ship(scanned(root), store, KnownPacks(root.parent / "other", "bucket", "research"))
    assert (other.digest, other.sent_bytes, store.sent) == (first.digest, 0, [])


def test_an_interrupted_launch_leaves_no_tree_and_its_packs_count(root: Path, store: Store) -> None:
    class Full(Store):
        def put(self, key: str, data: bytes) -> None:
            if key.startswith("trees/"):
                raise LandbridgeError("the line is cut")
            super().put(key, data)

    full = Full()
    with pytest.raises(LandbridgeError, match="the line is cut"):
        shipped(root, full)
    store.objects |= full.objects
    done = shipped(root, store)
    assert store.sent == [tree_key(done.digest)]


def test_a_file_that_changed_since_it_was_looked_at_ends_it(root: Path, store: Store) -> None:
    found = scanned(root)
    (root / "train.py").write_text("print('another length')\n")
    with pytest.raises(LandbridgeError, match=r"train\.py changed while it was read"):
        ship(found, store, KnownPacks(root.parent / "cache", "bucket", "research"))
    (root / "train.py").unlink()
    with pytest.raises(LandbridgeError, match=r"train\.py can't be read any more: No such file"):
        ship(found, store, KnownPacks(root.parent / "cache", "bucket", "research"))
    assert not [key for key in store.objects if key.startswith("trees/")]


def test_a_diff_lies_beside_the_tree(root: Path, store: Store) -> None:
    found = scanned(root)
    with_diff = Folder(found.root, found.files, found.links, "a" * 40, True, b"+print\n", True)
    done = ship(with_diff, store, KnownPacks(root.parent / "cache", "bucket", "research"))
    assert done.diff == digest(b"+print\n")
    assert store.objects[f"diffs/{done.diff}"] == b"+print\n"


def test_a_damaged_record_only_costs_a_question(root: Path, store: Store) -> None:
    first = shipped(root, store)
    (record,) = (root.parent / "cache").glob("packs-*.json")
    assert record.stat().st_mode & 0o777 == 0o600
    for text in ("{", '{"version": 1, "packs": {"../x": 5}, "contents": {}}', "[]"):
        record.write_text(text)
        assert shipped(root, store).digest == first.digest
    sha256 = digest(b"LAYERS = 3\n")
    record.write_text(f'{{"version": 1, "packs": {{"a": 3}}, "contents": {{"{sha256}": [["a", 0, 9]]}}}}')
    assert shipped(root, store).digest == first.digest


def test_many_small_packs_become_few(root: Path, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "MOST_PACKS", 8)
    (root / "weights.bin").write_bytes(os.urandom(MIB))
    sent = []
    for launch in range(20):
        (root / f"step{launch:02}.py").write_text(f"STEP = {launch}\n")
        done = shipped(root, store)
        assert len(tree(store, done).packs) <= 8
        sent.append(done.sent_bytes)
        assert len(held(store, done)) == launch + 4
    assert max(sent[1:]) < MIB / 10, "what is large stays where it lies"


def source(path: str, size_bytes: int) -> Source:
    return Source(path, 0o644, Stamp(size_bytes, 0, 0, 0), digest(path.encode()))


def test_packs_are_filled_in_order_and_none_is_too_large() -> None:
    files = [source(f"{n:04}", 100_000) for n in range(2000)] + [source("zz", 3 * PACK_BYTES + 5)]
    packs = packed(reversed(files))
    assert packs == packed(files)
    assert next(one for pack in packs for one in pack).source.path == "0000"
    sizes = [sum(piece.size_bytes for piece in pack) for pack in packs]
    assert max(sizes) <= PACK_BYTES
    assert [sum(p.size_bytes for p in pack if p.source.path == "zz") for pack in packs][-4:] == [PACK_BYTES] * 3 + [5]
    assert 8 <= len(packed(files[:2000])) <= 17, "several travel at once"
    assert packed([]) == []


def test_a_tree_above_its_usual_limit_keeps_its_full_packs() -> None:
    placed = {str(n): (Part(str(n), 0, PACK_BYTES),) for n in range(100)}
    assert len(to_keep(placed, 1)) == 100
    placed |= {f"small {n}": (Part(f"small {n}", 0, 100),) for n in range(150)}
    assert to_keep(placed, 1) == {str(n) for n in range(100)}
