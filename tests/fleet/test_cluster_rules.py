"""Which versions of Kubernetes a fleet may ask for."""

import re
from pathlib import Path

from fleet.rules import KUBERNETES

ROOT = Path(__file__).parents[2]


def test_the_tested_versions_are_those_of_the_binaries() -> None:
    pinned = re.search(r"k8s\.io/kubernetes v(\d+\.\d+)\.", (ROOT / "tools/kubernetes/go.mod").read_text())
    assert pinned is not None
    assert pinned[1] in KUBERNETES
