"""What of an update is done, and what comes next: decided from what is, so that an interrupted one goes on. Pure."""

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from typing import Any, Literal, NamedTuple

# In the order that Kubernetes' version skew policy wants: etcd and API servers, then what talks to them.
Kind = Literal["file", "publish", "machines", "follow", "pool", "hosts"]
# `people`: a host's kubelet is of its image, and that is its owners' to change.
State = Literal["done", "to do", "waits", "people"]


class Pool(NamedTuple):
    """`kubelets` are versions by node, `older` how many machines have another image than the channel names."""

    place: str
    site: bool
    joins: bool
    kubelets: Mapping[str, str]
    older: int = 0


class Seen(NamedTuple):
    """`machines` are versions by machine, `behind` those with an older image or bundle.

    `followers` is what other stacks have published. `opens`: when work may begin by the windows of a pool, or of the
    cluster's region under the cluster's name; none for now.
    """

    cluster: str
    target: str
    file: str
    published: str
    machines: Mapping[str, str]
    behind: Collection[str]
    followers: Mapping[str, str]
    pools: Mapping[str, Pool]
    opens: Mapping[str, datetime | None]


class Step(NamedTuple):
    kind: Kind
    name: str
    words: str
    state: State
    left: int = 0
    opens: datetime | None = None

    def as_json(self) -> dict[str, Any]:
        return {**self._asdict(), "opens": self.opens.isoformat(timespec="minutes") if self.opens else None}


def steps(seen: Seen) -> list[Step]:
    return [*_control_plane(seen), *_pools(seen)]


def _control_plane(seen: Seen) -> Iterator[Step]:
    to, name = seen.target, seen.cluster
    opens = seen.opens.get(name)
    yield Step("file", name, f"the fleet file says {to}", "done" if seen.file == to else "to do")
    yield Step("publish", name, f"stack {name} publishes {to}", "done" if seen.published == to else "to do")
    old = sum(has != to or machine in seen.behind for machine, has in seen.machines.items())
    what = f"{old} of {len(seen.machines)} machines of the control plane are replaced, one at a time"
    yield Step("machines", name, what, _state(old, opens), old, opens if old else None)
    late = [stack for stack, has in seen.followers.items() if has != to]
    words = f"stacks {', '.join(late or seen.followers)} follow" if seen.followers else "no stack follows"
    yield Step("follow", name, words, "to do" if late else "done", len(late))


def _pools(seen: Seen) -> Iterator[Step]:
    for name, pool in seen.pools.items():
        if not pool.joins:
            continue
        opens = seen.opens.get(name)
        old = max(pool.older, sum(has != seen.target for has in pool.kubelets.values()))
        count = f"{old} of {len(pool.kubelets)}"
        if pool.site:
            words = f"{count} hosts of {name} have another kubelet: their image is to change"
            yield Step("hosts", name, words, "people" if old else "done", old)
        else:
            words = f"{count} machines of {name} are replaced, a part at a time"
            yield Step("pool", name, words, _state(old, opens), old, opens if old else None)


def _state(old: int, opens: datetime | None) -> State:
    return "done" if not old else ("waits" if opens else "to do")
