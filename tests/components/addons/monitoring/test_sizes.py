"""What measuring asks for goes by the most nodes, and changes seldom; the guide has its figures."""

from components.addons.monitoring import prometheus, sizes
from components.addons.spec import AddOnsSpec
from tests.components.addons import bed
from tests.test_docs import tables

GUIDE = bed.ROOT / "docs/guide/monitoring.md"
UNITS = {"MiB": 1, "GiB": 1024}


def mib(text: str) -> float:
    number, unit = text.split()
    return float(number.replace(",", "")) * UNITS[unit]


def test_the_guide_has_what_is_asked_for() -> None:
    (rows,) = (part for part in tables(GUIDE)["What is measured"] if part[0][0] == "nodes")
    assert len(rows) > 4
    for nodes, reckoned, asked in rows[1:]:
        of = int(nodes.replace(",", ""))
        cost = sizes.PROMETHEUS
        wanted = cost.always_mib + of * sizes.SERIES * cost.series_bytes / 2**20
        assert abs(wanted - mib(reckoned)) < 0.06 * 1024, nodes
        assert sizes.memory(cost, of) == f"{mib(asked):.0f}Mi"
        assert wanted <= mib(asked) < 2 * wanted


def test_the_most_nodes_are_those_of_all_pools_and_no_more_than_the_cluster_holds(example: AddOnsSpec) -> None:
    pools = example.fleet.pools.values()
    assert sizes.nodes(example) == sum(len(one.hosts) or one.max for one in pools if one.kind != "ssh") == 462
    assert sizes.nodes(example, "lab") == 8
    more = tuple(one._replace(most=400) for one in example.pools)
    assert sizes.nodes(example._replace(pools=more)) == 500


def test_both_of_the_pair_ask_for_it(example: AddOnsSpec) -> None:
    (made,) = [one for one in prometheus.manifests(example) if one["kind"] == "StatefulSet"]
    (container,) = made["spec"]["template"]["spec"]["containers"]
    assert container["resources"]["requests"] == {"cpu": "50m", "memory": "2048Mi"}
