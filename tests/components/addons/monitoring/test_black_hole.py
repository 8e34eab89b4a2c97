"""A way on which large packets are lost is one on which the real exporter does not answer the real Prometheus."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from local import namespace
from local.kubernetes import BIN
from tests.local.machines.host import Host
from tests.support.waiting import eventually

ASKING, ASKED = "10.132.0.20", "10.133.0.20"
CONFIG = {
    "global": {"scrape_interval": "5s", "scrape_timeout": "5s"},
    "scrape_configs": [{"job_name": "node-exporter", "static_configs": [{"targets": [f"{ASKED}:9100"]}]}],
}
# At the router between the two.
HOLE = f"""
table ip hole {{
    chain forward {{
        type filter hook forward priority filter;
        ip saddr {ASKED} ip length > 1300 drop
    }}
}}
"""
NFT = "import subprocess\nsubprocess.run(['nft', *words], input=given, text=True, check=True)"


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    made = Host(tmp_path, ["unshare", *namespace.usable_mode().make])
    yield made
    made.close()


def test_a_black_hole_is_seen_where_what_is_small_still_passes(host: Host) -> None:
    asked = host.machine("asked", f"{ASKED}/22", programs={"node_exporter": str((BIN / "node_exporter").resolve())})
    asking = host.machine("asking", f"{ASKING}/22", programs={"prometheus": str((BIN / "prometheus").resolve())})
    (asking.disk / "srv/prometheus.yaml").write_text(json.dumps(CONFIG))
    asked.sh("node_exporter > /srv/log 2>&1 &")
    asking.sh("prometheus --config.file=/srv/prometheus.yaml --storage.tsdb.path=/srv/data > /srv/log 2>&1 &")

    def up() -> str:
        said = asking.sh("curl --silent --get --data-urlencode query=up http://127.0.0.1:9090/api/v1/query").out
        found = json.loads(said)["data"]["result"] if said else []
        return str(found[0]["value"][1]) if found else ""

    eventually(lambda: up() == "1", 60)
    host(NFT, words=["--file", "-"], given=HOLE)
    eventually(lambda: up() == "0", 60)
    small = asking.sh(f"curl --silent --max-time 5 --range 0-99 http://{ASKED}:9100/nothing")
    assert (small.code, small.out.strip()) == (0, "404 page not found")
    host(NFT, words=["delete", "table", "ip", "hole"], given="")
    eventually(lambda: up() == "1", 60)
