"""Every whole fleet that a guide shows comes up as it stands there, stays as it is, and goes without leaving anything."""

import re
from pathlib import Path

import pytest

from tests.e2e.kills import counted, different
from tests.support.cloud import make
from tests.test_docs import DOCUMENTS, yaml_blocks

from .matrix import destroy, up

pytestmark = [pytest.mark.cloud, pytest.mark.matrix, pytest.mark.timeout(1500)]
FLEETS = [
    pytest.param(text, id=path.stem)
    for path in DOCUMENTS
    for text in yaml_blocks(path)
    if re.search(r"^fleet: ", text, re.MULTILINE)
]
# What a cloud keeps of what was deleted, and what it makes of itself with the first call.
KEPT = (
    "azure Microsoft.KeyVault/locations/deletedVaults",
    "kms keys",
    "kms aliases",
    "secretsmanager secrets",
    "ssm parameters",
)


def test_several_guides_show_one() -> None:
    assert len(FLEETS) >= 3


@pytest.mark.parametrize("text", FLEETS)
def test_it_comes_up_and_goes(text: str, tmp_path: Path) -> None:
    cloud = make(tmp_path, text)
    try:
        cloud.run("preview", "--local")
        for region in re.findall(r"^  ([\w-]+): \{cloud: aws", text, re.MULTILINE):
            cloud.python(f"client('ec2', '{region}').describe_vpcs()")
        before = counted(cloud)
        up(cloud)
        assert different(counted(cloud), before) != {}
        destroy(cloud)
        left = different(counted(cloud), before)
        assert [kind for kind in left if not kind.endswith(KEPT)] == []
    finally:
        cloud.stop()
