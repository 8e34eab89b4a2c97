"""Before a store begins on an empty disk: all days that the other one has, whole or not at all.

A store without its past is better than none, so it begins in any case. What came meanwhile waits on the nodes; what the
other one had of that already comes twice, and readers drop one of each.
"""

import http.client
import os
import shutil
import tarfile
import time
import urllib.request
from pathlib import Path

from .giving import HISTORY, PARTITIONS, complain, days

# Longer than the other one takes to begin anew on its disk, or its name to be known.
PATIENCE_SECONDS, PAUSE_SECONDS, SILENT_SECONDS = 60.0, 2.0, 60.0
DRAFT, NOTHING = ".history", 204
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def fetch(data: Path, address: str, patience: float = PATIENCE_SECONDS) -> None:
    """`data` is the store's folder. `patience` is seconds without a whole answer."""
    draft, deadline = data / DRAFT, time.monotonic() + patience
    while not days(data):
        shutil.rmtree(draft, ignore_errors=True)
        found = once(draft, address)
        if found:
            # What is named is whole, also after a loss of power.
            os.sync()
            draft.rename(data / PARTITIONS)
            return complain(f"{found} days are here")
        if found == 0:
            complain("the other one has nothing either")
            break
        if time.monotonic() > deadline:
            complain("begins without the past, which nobody gave")
            break
        time.sleep(PAUSE_SECONDS)
    return shutil.rmtree(draft, ignore_errors=True)


def once(draft: Path, address: str) -> int | None:
    """How many days it gave, laid down in `draft`; None without a whole answer, or without room for it."""
    try:
        draft.mkdir()
        with OPENER.open(f"{address}{HISTORY}", timeout=SILENT_SECONDS) as answer:
            if answer.status == NOTHING:
                return 0
            with tarfile.open(fileobj=answer, mode="r|") as tar:
                tar.extractall(draft, filter="data")
            # An answer that broke off has no end.
            answer.read()
        return len(list(draft.iterdir()))
    except (OSError, http.client.HTTPException, tarfile.TarError) as error:
        complain(f"{address}: {error!r}")
        return None
