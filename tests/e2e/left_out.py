"""Stacks whose engine is left out: what test_hybrid.py asks of a fleet with all kinds of them."""

import json

from fleet.image_names import parameter
from tests.support.cloud import Cloud

POINTER = """
ssm = client("ssm", "us-west-2")
before = ssm.get_parameters(Names=[{name!r}])["Parameters"][0]["Value"]
ssm.put_parameter(Name={name!r}, Value={value!r}, Type="String", Overwrite=True)
print(before)
"""
SIZE = "c7i.8xlarge, max: 4"


def check_accounts(cloud: Cloud, stacks: set[str]) -> None:
    """Every stack's program wrote down what it read, and all of it can be looked at again."""
    logs = cloud.home / "local/test/logs"
    found = {file.name.partition(".")[0]: json.loads(file.read_text()) for file in logs.glob("*.read.json")}
    assert found.keys() == stacks
    assert {name: one["unknown"] for name, one in found.items() if one["unknown"]} == {}
    assert {json.loads(text)["tok"].partition(":")[0] for one in found.values() for text in one["lookups"]} == {"aws"}
    assert found["main-addons"]["references"].keys() >= {"us-west-2", "us-east-1", "main"}


def engines(cloud: Cloud, *words: str, code: int = 0) -> dict[str, str]:
    """Stacks for which the engine ran, with the reason."""
    told = cloud.report(*words, "--local", code=code, seconds=900)["stacks"]
    return {one["stack"]: one.get("why", "") for one in told if one["engine"]}


def check(cloud: Cloud, stacks: set[str]) -> None:
    check_accounts(cloud, stacks)
    engines(cloud, "up", "--yes")  # machines have come and gone since the first one
    assert engines(cloud, "up", "--yes") == {}
    text = cloud.fleet.read_text()
    assert SIZE in text
    cloud.fleet.write_text(text.replace(SIZE, SIZE.replace("4", "5")))
    ran = engines(cloud, "preview")
    assert ran["cpu"] == "fleet.yaml: pools.cpu.max changed"
    assert ran.keys() <= {"cpu", "main-addons"}, "the autoscaler's settings have the sizes of pools"
    cloud.fleet.write_text(text)
    name = parameter("test", "1.36.2", "stable", "gpu")
    before = cloud.python(POINTER.format(name=name, value="ami-0123456789abcdef0")).strip()
    try:
        ran = engines(cloud, "preview", code=1)
    finally:
        cloud.python(POINTER.format(name=name, value=before))
    assert ran.keys() == {"west-gpu"}
    assert ran["west-gpu"].startswith("aws:ssm/getParametersByPath")
    assert engines(cloud, "preview") == {}
