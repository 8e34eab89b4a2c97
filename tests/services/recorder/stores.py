"""What a bucket has to do for the recorder, in either cloud."""

import gzip

import pytest

from services.recorder.errors import StoreError
from services.recorder.merging import Merging
from services.recorder.store import Store


def keeps(store: Store, folder: str, forbidden: str) -> None:
    """`folder` is one of its own, in which nothing is; in `forbidden` it may do nothing."""
    part = f"{folder}2026-11-28/100000-a.jsonl.gz"
    store.put(part, gzip.compress(b"one\n"))
    store.put(part, gzip.compress(b"two\n"))
    assert gzip.decompress(store.get(part)) == b"two\n"
    store.put(f"{folder}2026-11-28/100001-b.jsonl.gz", gzip.compress(b"two\nthree\n"))
    assert store.listed(f"{folder}2026-11-28/") == [part, f"{folder}2026-11-28/100001-b.jsonl.gz"]
    Merging(store, [folder]).step(1795950000.0)  # the day after
    assert store.listed(f"{folder}2026-11-28") == [f"{folder}2026-11-28.jsonl.gz"]
    assert gzip.decompress(store.get(f"{folder}2026-11-28.jsonl.gz")) == b"two\nthree\n"
    assert store.put_new(f"{folder}2026-11-28.jsonl.gz", b"another") is False
    for act in (
        lambda: store.put(f"{forbidden}x", b""),
        lambda: store.get(f"{forbidden}x"),
        lambda: store.listed(forbidden),
        lambda: store.delete(f"{forbidden}x"),
    ):
        with pytest.raises(StoreError):
            act()
    store.delete(f"{folder}2026-11-28.jsonl.gz")
