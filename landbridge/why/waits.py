"""Why the autoscaler bought nothing for a pod, from its day of notes. Pure."""

from collections.abc import Iterator, Mapping, Sequence

from evidence.observation import Json, Observation, about, moment

# Observation → those of landbridge/autoscaler/causes.py that it stands for, but `gated`, which the pod itself says.
# In that order: what would not help the pod counts only where nothing would.
FAMILIES: Mapping[str, tuple[str, ...]] = {
    "pool-coming": ("coming", "undecided", "scheduling", "preempting"),
    "pool-refused": ("refused-capacity", "refused-quota", "refused-spot", "refused-other", "backoff", "no-answer"),
    "pool-limit": (
        *("group-maximum", "pool-maximum", "owner-gpus", "owner-price"),
        *("fleet-gpus", "fleet-price", "price-unknown"),
    ),
    "pool-misfit": ("selector", "taint", "too-large", "site", "priority"),
}


def waits(pod: Json, noted: Sequence[Json]) -> Iterator[Observation]:
    """`noted` are the pod's in those notes, oldest first. One observation: the last one's, and of the first family."""
    if not noted:
        return
    told = noted[-1]["causes"]
    created, uid = moment(pod["metadata"].get("creationTimestamp")), str(pod["metadata"].get("uid", ""))
    for code, family in FAMILIES.items():
        if words := [_said(one) for one in told if one["code"] in family]:
            yield Observation(created, "autoscaler", about(pod, "pod"), code, "; ".join(dict.fromkeys(words)), uid)
            return


def _said(cause: Json) -> str:
    return f"{cause['group']}: {cause['text']}" if cause.get("group") else str(cause["text"])
