"""What a tree of code says, and what is refused as one."""

import json
from typing import Any

import pytest

from fleet.team_code import EMPTY, PACK_BYTES, File, Link, Part, Tree, digest, folder, parse, tree_key, write

PACK, SHA = "a" * 64, "b" * 64
FILE = {"path": "train.py", "mode": "0644", "size": 5, "sha256": SHA, "parts": [[0, 3, 5]]}
LINK = {"path": "here", "mode": "link", "target": "train.py"}


def text(*files: Any, **changed: Any) -> bytes:
    return json.dumps({"format": 1, "packs": [[PACK, 8]], "files": list(files), **changed}).encode()


def test_a_tree_is_the_same_bytes_in_any_order_and_comes_back() -> None:
    files = (
        File("b/run.sh", 0o755, 3, SHA, (Part(PACK, 0, 3),)),
        File("a.py", 0o644, 5, SHA, (Part(PACK, 3, 5),)),
        File("b/__init__.py", 0o644, 0, EMPTY, ()),
    )
    links = (Link("b/up", "../a.py"),)
    data = write(Tree(files, links, {PACK: 8}))
    assert data == write(Tree(files[::-1], links, {PACK: 8}))
    back = parse(data)
    assert sorted(back.files, key=lambda one: one.path) == sorted(files, key=lambda one: one.path)
    assert (back.links, back.packs) == (links, {PACK: 8})
    assert folder("research") + tree_key(digest(data)) == f"teams/research/code/trees/{digest(data)}.json"


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"{", "a tree is JSON"),
        (text(FILE, format=2), "has the format 1, this one 2"),
        (b"[]", "this one None"),
        (text(FILE, more=1), "a tree: it has files, format, more, packs"),
        (text({**FILE, "path": "/etc/passwd"}), "'/etc/passwd' is absolute"),
        (text({**FILE, "path": "a/../../b"}), r"has an empty part, \. or \.\."),
        (text({**FILE, "path": "a//b"}), "has an empty part"),
        (text({**FILE, "path": ""}), "is no path"),
        (text({**FILE, "path": "a\0b"}), "is no path"),
        (text({**FILE, "path": "\ud800"}), "is not UTF-8"),
        (text({**FILE, "path": ".landbridge-code"}), "is a name of our own"),
        (text({**FILE, "path": 3}), "it has no path"),
        (text("train.py"), "it has no path"),
        (text(FILE, FILE), "train.py: it stands twice"),
        (text(FILE, {**LINK, "path": "train.py", "target": "x"}), "train.py: it stands twice"),
        (text({**FILE, "path": "here/x"}, LINK), "here/x: it lies below here, which is no folder"),
        (text(FILE, {**FILE, "path": "train.py/x/y"}), "it lies below train.py, which is no folder"),
        (text({**FILE, "mode": "0777"}), "not 0777"),
        (text({**FILE, "mode": "4755"}), "not 4755"),
        (text({**FILE, "sha256": "B" * 64}), "is no SHA-256"),
        (text({**FILE, "sha256": "b" * 63}), "is no SHA-256"),
        (text(FILE, packs=[["../x", 8]]), "is no SHA-256"),
        (text(FILE, packs=[[PACK, PACK_BYTES + 1]]), "is no size"),
        (text(FILE, packs=[[PACK, True]]), "is no size"),
        (text(FILE, packs=[PACK]), "is not a digest with a size"),
        (text(FILE, packs=[[PACK, 8], [PACK, 8]]), "a pack stands twice"),
        (text(FILE, packs=[[PACK, 8], ["c" * 64, 8]]), "no file lies in it"),
        (text({**FILE, "parts": [[0, 4, 5]]}), "lies in no pack"),
        (text({**FILE, "parts": [[1, 0, 5]]}), "lies in no pack"),
        (text({**FILE, "parts": [[0, -1, 5]]}), "is not a pack's number"),
        (text({**FILE, "parts": [[0, 0, 4]]}), "have not the 5 bytes"),
        (text({**FILE, "size": 0, "parts": []}), "its digest is not that of nothing"),
        (text(FILE, {**LINK, "target": "/etc/passwd"}), "'/etc/passwd' is absolute"),
        (text(FILE, {**LINK, "target": "../x"}), "leads out of the folder"),
        (text(FILE, {**LINK, "path": "a/b", "target": "../.."}), "leads out of the folder"),
        # `deep` may be a link to the folder's top, and `deep/..` then lies above it.
        (text(FILE, {**LINK, "target": "deep/../x"}), "has .. behind a name"),
        (text(FILE, {**LINK, "target": ""}), "leads nowhere"),
        (text(FILE, {**LINK, "size": 3}), "here: it has mode, path, size, target"),
    ],
)
def test_what_is_no_tree_is_refused_with_its_reason(data: bytes, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parse(data)


def test_nothing_is_written_that_could_not_be_read() -> None:
    with pytest.raises(ValueError, match="is absolute"):
        write(Tree((File("/x", 0o644, 0, EMPTY, ()),), (), {}))
