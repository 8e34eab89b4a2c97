"""How far a set-up is and how long it will take, from what its steps took on two cores."""

from collections.abc import Mapping

# Whatever else is in a plan is quick.
SECONDS = {
    "Python packages": 12,
    "Go, from PyPI": 10,
    "pulumi": 244,
    "pulumi-language-python": 42,
    "kube-apiserver": 215,
    "kube-controller-manager": 59,
    "kube-scheduler": 5,
    "kubectl": 22,
    "etcd": 10,
    "etcdctl": 3,
    "etcdutl": 2,
    "kwok": 13,
    "coredns": 62,
    "cluster-autoscaler": 167,
    "kueue": 307,
    "jobset": 107,
    "promtool": 87,
    "prometheus": 105,
    "alertmanager": 48,
    "kube-state-metrics": 132,
    "node_exporter": 13,
    "victoria-logs": 36,
    "vlagent": 4,
    "metrics-server": 319,
}
QUICK_SECONDS = 5
# Before so much is done nobody knows how quick a machine is.
TELLING_SECONDS = 20
# Shorter ones need no word beforehand.
LONG_SECONDS = 60
# Of what is known, as a machine that does nothing else takes it.
SHARES = (0.7, 1.05)


class Way:
    """A plan's steps in their order, and how this machine compares with the one that they were measured on."""

    def __init__(self, steps: list[str]) -> None:
        self.steps = steps
        self.took: dict[str, float] = {}

    def done(self, step: str, seconds: float) -> None:
        self.took[step] = seconds

    def place(self, step: str) -> str:
        return f"step {self.steps.index(step) + 1} of {len(self.steps)}"

    def remaining(self, step: str, seconds: float) -> float:
        """While a step goes on for `seconds`. One that takes longer than it should is about to end."""
        rate = self.rate()
        whole = rate * known(step)
        after = self.steps[self.steps.index(step) + 1 :]
        return max(whole - seconds, whole / 20) + rate * total(after)

    def rate(self) -> float:
        expected = total(self.took)
        return sum(self.took.values()) / expected if expected >= TELLING_SECONDS else 1.0


def known(step: str) -> float:
    return SECONDS.get(step, SECONDS.get(step.partition(" ")[0], QUICK_SECONDS))


def total(steps: Mapping[str, float] | list[str]) -> float:
    return sum(known(step) for step in steps)


def beforehand(steps: list[str]) -> str:
    """What to say of a plan that takes long; nothing of one that doesn't."""
    seconds = total(steps)
    if seconds < LONG_SECONDS:
        return ""
    least, most = (max(1, round(seconds * share / 60)) for share in SHARES)
    return (
        f"This takes {least} to {most} minutes, once for all checkouts: {len(steps)} steps, most of them programs that "
        "are built from source.\nCtrl-C stops it; what is done stays, and the next one goes on from there."
    )


def left(seconds: float) -> str:
    return (
        f"about {round(seconds / 60)} min left"
        if seconds >= 90
        else "about a minute left"
        if seconds >= 30
        else "nearly done"
    )
