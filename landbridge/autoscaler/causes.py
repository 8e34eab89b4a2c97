"""Why a pod waits: what each cause means, and what to do. services/autoscaler/causes.py finds them."""

from typing import NamedTuple


class Meaning(NamedTuple):
    """`help` is empty where there is nothing to do but wait."""

    short: str
    help: str


PLACE = "ask for another place or kind, or leave that out"
LIMIT = "wait for others to end, or raise it in the fleet file and run `landbridge up`"
PRICE = "wait for others to end, or raise max_usd_per_hour in the fleet file and run `landbridge up`"
GPUS = "wait for others to end, or raise max_gpus in the fleet file and run `landbridge up`"

CAUSES: dict[str, Meaning] = {
    "gated": Meaning("held back", "whoever set the scheduling gate takes it away: a queue, say"),
    "scheduling": Meaning("the scheduler looks for a node", ""),
    "preempting": Meaning("gets a node from pods of lower priority", ""),
    "priority": Meaning(
        "too low a priority to buy machines", "give it another priority class, or wait for a free node"
    ),
    "site": Meaning("bound to a site that is full", PLACE),
    "selector": Meaning("asks for other labels", PLACE),
    "taint": Meaning("does not tolerate the pool's taint", "the pool is for other work; or tolerate its taint"),
    "too-large": Meaning("larger than a machine", "ask for less in each pod"),
    "no-answer": Meaning(
        "the region has not answered", "`landbridge autoscaler status` and the log of `cloud` say more"
    ),
    "refused-capacity": Meaning("the cloud has no capacity", "other pools are asked; one more region or zone helps"),
    "refused-quota": Meaning("the account's quota is used up", "ask the cloud for a larger quota"),
    "refused-spot": Meaning("no spot capacity", "other pools are asked; a pool on demand helps"),
    "refused-other": Meaning("the cloud could not launch it", "the pool's template or rights: the sentence says which"),
    "backoff": Meaning("failed, and is asked again later", ""),
    "coming": Meaning("a node is on its way", ""),
    "undecided": Meaning("was not asked yet", "the autoscaler waits 30 s for pods with GPUs to come together"),
    "group-maximum": Meaning("the scaling group is at its maximum", LIMIT),
    "pool-maximum": Meaning("the pool is at its maximum", LIMIT),
    "owner-gpus": Meaning("the team's GPUs are used up", GPUS),
    "owner-price": Meaning("the team spends what it may", PRICE),
    "fleet-gpus": Meaning("the fleet's GPUs are used up", GPUS),
    "fleet-price": Meaning("the fleet spends what it may", PRICE),
    "price-unknown": Meaning("nobody has said what it costs", "say it in the fleet file, under prices of the region"),
}
# A newer pod's code that this command line does not know.
UNKNOWN = Meaning("", "")


def meaning(code: str) -> Meaning:
    return CAUSES.get(code, UNKNOWN)
