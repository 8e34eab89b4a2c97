"""What a dashboard is: rows of panels, their queries, and what somebody may choose above them."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

# number, bad: one number, of which more than none is bad · lines, areas: over time, apart or one above the other ·
# heat: a line for each series, its value a colour · table: as it is now
Kind = Literal["number", "bad", "lines", "areas", "heat", "table"]
# Grafana's names of units.
Unit = Literal["short", "percentunit", "s", "bytes", "celsius", "watt", "reqps"]


class Query(NamedTuple):
    """PromQL, in which the words of FRAGMENTS may stand, and Grafana's pattern for the names of its series."""

    asks: str
    legend: str = ""


class Panel(NamedTuple):
    """`limit`: from there on an alarm is near. `most`: what a value can't exceed. `columns`: label → its heading."""

    kind: Kind
    title: str
    unit: Unit
    queries: tuple[Query, ...]
    says: str = ""
    limit: float | None = None
    most: float | None = None
    width: int | None = None
    columns: Mapping[str, str] = {}


class Row(NamedTuple):
    title: str
    panels: tuple[Panel, ...]


class Choice(NamedTuple):
    """A variable: the values that a label of a metric has. `every` stands for all of them, also for none."""

    name: str
    title: str
    metric: str
    label: str
    every: str | None = None


class Board(NamedTuple):
    """`name` is its address: a second import replaces the first."""

    name: str
    title: str
    says: str
    choices: tuple[Choice, ...]
    rows: tuple[Row, ...]

    @property
    def uid(self) -> str:
        return f"landbridge-{self.name}"


# Prometheus adds the label `cluster` when it writes elsewhere: who asks a cluster's own sees none.
ANY = ".*"
CLUSTER = Choice("cluster", "Cluster", "up", "cluster", ANY)
PLACE_LABEL, POOL_LABEL = "label_landbridge_dev_place", "label_landbridge_dev_pool"
PLACE = Choice("place", "Place", "kube_node_labels{$HERE}", PLACE_LABEL, ANY)
POOL = Choice("pool", "Pool", f'kube_node_labels{{$HERE, {PLACE_LABEL}=~"$place"}}', POOL_LABEL, ANY)
# Of what was chosen above it: so all of them are those, and nothing else.
NODE = Choice("node", "Node", f'kube_node_labels{{$HERE, {PLACE_LABEL}=~"$place", {POOL_LABEL}=~"$pool"}}', "node")
TEAM = Choice("team", "Team", 'kube_pod_status_phase{$HERE, namespace=~"team-.+"}', "namespace", "team-.+")

BY_POOL = f"{{{{{POOL_LABEL}}}}} in {{{{{PLACE_LABEL}}}}}"
# Word → what stands for it. Those with others in them come first.
FRAGMENTS = {
    # Of series with a node: its place and pool. Of a node's labels there may be two for a moment, hence the group.
    "$PLACED": f"""* on (cluster, node) group_left ({PLACE_LABEL}, {POOL_LABEL})
  group by (cluster, node, {PLACE_LABEL}, {POOL_LABEL}) (
    kube_node_labels{{$HERE, {PLACE_LABEL}=~"$place", {POOL_LABEL}=~"$pool"}}
  )""",
    "$BY_POOL": f"by ({PLACE_LABEL}, {POOL_LABEL})",
    "$HERE": 'cluster=~"$cluster"',
}


def whole(text: str) -> str:
    """With each word's fragment in its place."""
    for word, fragment in FRAGMENTS.items():
        text = text.replace(word, fragment)
    return text.strip()
