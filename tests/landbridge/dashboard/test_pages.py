"""The pages, made of what kubectl and Prometheus say: whole, honest, and legible without colours."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from landbridge.dashboard import detail
from landbridge.dashboard.cells import IDLE, cells, machines
from landbridge.dashboard.front import MOST_ROWS, front
from landbridge.dashboard.heat import MARKS
from landbridge.dashboard.markup import address, table, tag
from landbridge.dashboard.page import POLICY
from landbridge.dashboard.snapshot import Node, nodes
from landbridge.dashboard.style import CELLS, SCALE

from .played import BEGUN, FORBIDDEN, LARGE, Played, active, alarm, asking, large, node, pod, seen, small

EVIL = '<script>alert("1")</script>'


class Read(HTMLParser):
    """What a browser would: tags by name with their attributes, and words."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self._style = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._style = tag == "style"

    def handle_data(self, data: str) -> None:
        if not self._style and data.strip():
            self.words.append(data.strip())

    def named(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.tags if tag == name]


def drawn(text: str) -> list[str]:
    """Titles of the map's cells, without those of the legend, which name no GPU."""
    return [one for one in re.findall(r"<title>([^<]*)</title>", text) if " GPU " in one]


def one(**more: object) -> Node:
    return nodes([node("host-1", **more)])[0]  # type: ignore[arg-type]


def test_1600_gpus_are_1600_cells_in_less_than_a_megabyte(tmp_path: Path) -> None:
    text = front(seen(large(), tmp_path, LARGE))
    assert len(drawn(text)) == 1600
    assert len(text.encode()) < 1_000_000
    assert len([one for one in Read(text).named("a") if (one["href"] or "").startswith("/nodes/")]) >= 200


def test_each_cell_says_what_it_is(tmp_path: Path) -> None:
    titles = drawn(front(seen(small(), tmp_path)))
    assert "host-1 GPU 0: at work, 90% active · vision train" in titles
    assert "host-2 GPU 3: held, idle, 1% active · vision train" in titles
    assert "host-3 GPU 7: not usable · speech probe" in titles
    assert "host-4 (it does not answer) GPU 0: not usable" in titles
    assert "host-10 (it is cordoned) GPU 0: free, but closed" in titles
    assert "west-1 GPU 0: free" in titles


def test_the_numbers_are_those_of_the_map(tmp_path: Path) -> None:
    text = front(seen(small(), tmp_path))
    tiles = dict(re.findall(r'<div class="tile[^"]*"><b>([^<]+)</b><span>([^<]+)</span>', text))
    told = {words: number for number, words in re.findall(r"<b>([^<]+)</b><span>([^<]+)</span>", text)}
    assert tiles
    assert told == {
        "GPUs": "48",
        "held": "18",
        "at work": "10",
        "held, idle": "8",
        "free": "13",
        "free, but closed": "8",
        "not usable": "9",
        "runs wait": "2",
        "alarms": "2",
    }


def test_links_are_told_the_worst_first_and_in_words(tmp_path: Path) -> None:
    text = front(seen(small(), tmp_path))
    rows = [re.findall(r">([^<]+)<", row) for row in re.findall(r"<tr>(.*?)</tr>", text.partition("Links")[2])]
    assert rows[1:4] == [
        ["hall/us-west-2", "us-west-2-hall-1", "hall", "down"],
        ["room/us-east-1", "us-east-1-room-1", "room", "50% up"],
        ["room/us-west-2", "us-west-2-room-1", "room", "up"],
    ]
    assert "<h2>Links" not in front(seen(small(), tmp_path)._replace(links=[]))


def test_what_machines_of_regions_cost_is_told_where_it_is_known(tmp_path: Path) -> None:
    unknown = seen(small(), tmp_path)._replace(prices={})
    assert "dollars an hour</span>" not in front(unknown)
    assert "Prices are of" not in front(unknown._replace(priced="Prices are of 2026-07-20."))
    priced = "Prices are of 2026-07-20, 133 days old."
    text = front(unknown._replace(prices={"west-gpu": 98.32, "system": 0.4, "another": 1.0}, priced=priced))
    assert f"<span>{priced}</span>" in text
    assert "<b>99</b><span>dollars an hour</span>" in text
    rows = [re.findall(r"<td[^>]*>([^<]*)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", text)]
    costs = {row[1]: row[-1] for row in rows if len(row) == 12}
    assert costs == {"room-gpu": "", "west-gpu": "98.32", "system": "0.40"}


def test_states_differ_in_more_than_colour() -> None:
    """By a mark of their own, or, of what is hollow, by a border."""
    marked = {state: str(mark) for state, mark in MARKS.items()}
    assert len({*marked.values()}) == len(marked) == 3
    assert {"idle", "held", "broken"} == {*marked}
    borders = [CELLS[state] for state in ("free", "shut", "unseen")]
    assert ["dasharray" in look for look in borders] == [False, True, False]
    assert len({look.partition("stroke:")[2] for look in borders}) == 3
    # From dark to light, so that it is one in grey, too.
    light = [sum(int(colour[n : n + 2], 16) * share for n, share in ((1, 0.3), (3, 0.6), (5, 0.1))) for colour in SCALE]
    assert light == sorted(light)


def test_broken_and_idle_are_drawn_with_their_marks(tmp_path: Path) -> None:
    text = front(seen(small(), tmp_path))
    groups = {title: mark for mark, title in re.findall(r"<g [^>]*>(.*?)<title>([^<]*)</title></g>", text)}
    assert 'class="dash"' in groups["host-2 GPU 0: held, idle, 1% active · vision train"]
    assert 'class="cross"' in groups["host-4 (it does not answer) GPU 0: not usable"]
    assert 'class="broken"' in groups["host-4 (it does not answer) GPU 0: not usable"]
    assert not re.search("dash|cross|dot", groups["host-1 GPU 0: at work, 90% active · vision train"])


def test_of_a_shared_host_the_busiest_gpus_are_held() -> None:
    found = cells(one(), 2, {str(n): share for n, share in enumerate([0, 0.9, 0, 0, IDLE, 0, 0, 0])}, whole=True)
    assert [cell.number for cell in found if cell.state != "free"] == [1, 4]
    assert [cell.state for cell in found].count("work") == 2


def test_a_gpu_that_nobody_can_have_is_the_one_that_tells_nothing() -> None:
    silent = {str(n): 0.5 for n in range(8) if n != 2}
    assert [cell.number for cell in cells(one(usable=7), 7, silent, whole=True) if cell.state == "broken"] == [2]
    assert {cell.state for cell in cells(one(usable=7), 7, silent, whole=True)} == {"broken", "work"}


def test_without_measures_what_is_held_is_told_as_that() -> None:
    assert [cell.state for cell in cells(one(), 3, {}, whole=True)] == ["held"] * 3 + ["free"] * 5


@pytest.mark.parametrize(
    ("more", "broken", "closed"),
    [
        ({}, "", ""),
        ({"ready": "False"}, "it is not ready", ""),
        ({"ready": "Unknown"}, "it does not answer", ""),
        ({"taints": ["landbridge.dev/gpu-failed"]}, "a GPU has failed", ""),
        ({"taints": ["status-taint.cluster-autoscaler.kubernetes.io/gpu-failed"]}, "it failed its burn-in", ""),
        ({"taints": ["status-taint.cluster-autoscaler.kubernetes.io/maintenance"]}, "", "maintenance is announced"),
        ({"taints": ["status-taint.cluster-autoscaler.kubernetes.io/rolling"]}, "", "it is to be replaced"),
        ({"cordoned": True, "taints": ["node.kubernetes.io/unschedulable"]}, "", "it is cordoned"),
        ({"taints": ["nvidia.com/gpu"]}, "", ""),
    ],
)
def test_what_is_wrong_with_a_machine_is_said(more: dict[str, object], broken: str, closed: str) -> None:
    found = one(**more)
    assert (found.broken, found.closed) == (broken, closed)


def test_nothing_of_the_cluster_is_markup(tmp_path: Path) -> None:
    """Names that Kubernetes would not take either: whoever writes what is shown need not be Kubernetes."""
    kube = Played(
        nodes=[node(EVIL, EVIL, EVIL)],
        pods=[pod(EVIL, EVIL, run=EVIL, person=EVIL)],
        alarms=[alarm(EVIL, node=EVIL)],
        active=active(EVIL, 0.5),
    )
    kube.away["clusterqueues"] = f"error: {EVIL}"
    now = seen(kube, tmp_path)
    pages = [front(now), front(now, linked=False), detail.run(now, "team-vision", EVIL), detail.node(now, EVIL)]
    for text in pages:
        assert text
        assert not Read(text).named("script")
        assert "<script" not in text
        assert EVIL in " ".join(Read(text).words)
        known = {"a", "b", "body", "circle", "defs", "div", "g", "h1", "h2", "h3", "head", "header", "html", "main"}
        known |= {"meta", "p", "path", "pattern", "rect", "section", "small", "span", "style", "svg", "table", "tbody"}
        known |= {"text"}
        assert {name for name, _ in Read(text).tags} <= known | {"td", "th", "thead", "title", "tr"}
        assert [name for _, given in Read(text).tags for name in given if name.startswith("on")] == []


def test_attributes_and_addresses_are_escaped() -> None:
    assert tag("a", "<", href='"><b>') == '<a href="&quot;&gt;&lt;b&gt;">&lt;</a>'
    assert address("nodes", "../<x>") == "/nodes/..%2F%3Cx%3E"
    assert table(["a"], [["<b>"]]).count("<b>") == 0


def test_nothing_comes_from_elsewhere_and_nothing_runs(tmp_path: Path) -> None:
    text = front(seen(small(), tmp_path))
    assert "default-src 'none'" in POLICY
    assert "http://" not in text
    assert "https://" not in text
    assert {given.get("href", "/")[:1] for given in Read(text).named("a")} == {"/"}  # type: ignore[index]
    assert [given["http-equiv"] for given in Read(text).named("meta") if "http-equiv" in given] == [
        "Content-Security-Policy",
        "refresh",
    ]


def test_a_file_for_others_has_no_links_and_does_not_reload(tmp_path: Path) -> None:
    read = Read(front(seen(small(), tmp_path), linked=False))
    assert read.named("a") == []
    assert [given.get("http-equiv") for given in read.named("meta")][2:] == ["Content-Security-Policy"]


def test_people_see_their_team_alone(tmp_path: Path) -> None:
    kube = small()
    text = front(seen(kube, tmp_path, name="ann", team="vision"))
    words = " ".join(Read(text).words)
    assert "train" in words
    assert "probe" not in text
    assert "bob" not in text
    assert "Not seen: alarms and what GPUs do, which are for operators." in words
    assert "held by team vision" in words
    assert "free, or another team's" in words
    spaced = [words for words in kube.asked if words[1] in ("pods", "workloads.kueue.x-k8s.io")]
    assert spaced
    assert all("--namespace=team-vision" in words for words in spaced)
    assert not any("--all-namespaces" in words for words in spaced)
    assert not any(words[0] == "exec" for words in kube.asked)


def test_an_operator_for_one_team_sees_that_team_s(tmp_path: Path) -> None:
    kube = small()
    who = asking(kube, tmp_path, team="speech")
    who.prometheus = kube
    text = front(who.snapshot())
    assert "probe" in text
    assert ">train<" not in text
    assert "DiskFull" in text


@pytest.mark.parametrize(
    ("kind", "says", "told", "there"),
    [
        ("alarms", "unable to connect", "alarms and what GPUs do: Prometheus does not answer", "host-1"),
        (
            "alarms",
            'pods "prometheus-0" not found (NotFound)',
            "alarms and what GPUs do: This cluster has no",
            "host-1",
        ),
        ("alarms", FORBIDDEN, "alarms and what GPUs do", "host-1"),
        ("clusterqueues", "the server doesn't have a resource type", "queues: main has no queues yet", "host-1"),
        ("pods", FORBIDDEN, "pods, which are not for you", "host-1"),
        ("nodes", "Unable to connect to the server", "the cluster's API: kubectl get nodes", "Nothing waits."),
    ],
)
def test_what_does_not_answer_is_told_and_the_rest_is_shown(
    kind: str, says: str, told: str, there: str, tmp_path: Path
) -> None:
    kube = small() if kind != "nodes" else Played()
    kube.away[kind] = says
    words = " ".join(Read(front(seen(kube, tmp_path))).words)
    assert f"Not seen: {told}" in words
    assert there in words


def test_where_pods_are_not_seen_no_gpu_is_called_free(tmp_path: Path) -> None:
    kube = small()
    kube.away["pods"] = FORBIDDEN
    states = {cell.state for machine in machines(seen(kube, tmp_path)) for cell in machine.cells}
    assert states == {"unseen", "broken"}


def test_what_waits_says_for_what(tmp_path: Path) -> None:
    words = " ".join(Read(front(seen(small(), tmp_path))).words)
    assert "never: it asks for 24 GPUs, and robots may hold 16" in words
    assert "1 of 1 pods have no machine yet" in words


def test_long_tables_end_and_say_how_much_more_there_is(tmp_path: Path) -> None:
    pods = [pod(f"p-{number}", "", 1, run="") for number in range(MOST_ROWS + 3)]
    assert "3 more are in /api/snapshot.json." in front(seen(Played(pods=pods), tmp_path))


def test_a_run_has_its_hosts_and_what_they_do(tmp_path: Path) -> None:
    text = detail.run(seen(small(), tmp_path), "team-vision", "train")
    assert text
    words = " ".join(Read(text).words)
    for wanted in ("runs in room", "ann", "train-0", "host-1", "90%", "train-1", "host-2", "1%", "Running", "45%"):
        assert wanted in words
    assert len(drawn(text)) == 16
    waits = detail.run(seen(small(), tmp_path), "team-robots", "later")
    assert waits
    assert "until it begins nothing is held" in waits


def test_a_machine_has_its_gpus_holders_conditions_and_alarms(tmp_path: Path) -> None:
    now = seen(small(), tmp_path)
    text = detail.node(now, "host-2")
    assert text
    words = " ".join(Read(text).words)
    for wanted in (
        "room-gpu (gpu)",
        "8 h100, 8 usable",
        "held, idle, 1% active",
        "train-1",
        "DiskFull",
        "Ready",
        "True",
    ):
        assert wanted in words
    assert "NodeNotReady" not in words
    silent = detail.node(now, "host-4")
    assert silent
    assert "node-silent: so it says" in silent
    assert "NodeNotReady" in silent


def test_what_is_not_there_has_no_page(tmp_path: Path) -> None:
    now = seen(small(), tmp_path)
    assert detail.node(now, "host-99") is None
    assert detail.run(now, "team-speech", "train") is None
    # A pod of no run has a row on the first page alone.
    assert detail.run(now, "team-vision", "") is None
    assert detail.run(now, "team-vision", "note-0") is None


def test_host_2_comes_before_host_10(tmp_path: Path) -> None:
    names = [one.name for one in seen(small(), tmp_path).nodes if one.place == "room"]
    assert names == ["host-1", "host-2", "host-3", "host-4", "host-10"]


def test_pods_that_ended_hold_nothing(tmp_path: Path) -> None:
    kube = Played(nodes=[node("host-1")], pods=[pod("a-0", "host-1", phase="Succeeded"), pod("b-0", "host-1", 1)])
    assert [one.name for one in seen(kube, tmp_path).pods] == ["b-0"]


def test_the_json_has_the_same(tmp_path: Path) -> None:
    made = seen(small(), tmp_path).as_json()
    assert {"nodes", "pods", "queues", "alarms", "activity", "not_seen"} <= made.keys()
    assert made["activity"]["host-1"]["0"] == 0.9
    assert made["nodes"][0]["conditions"][0]["kind"] == "Ready"
    assert BEGUN.startswith(str(made["nodes"][0]["since"].year))
