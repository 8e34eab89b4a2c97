"""One region's virtual machine scale sets of Azure, of uniform orchestration: docs/decisions/0033-scale-sets.md.

Compute REST API: Virtual Machine Scale Sets (List, Get, Update, Delete Instances, Get Instance View), Virtual Machine
Scale Set VMs (List), Usage (List). A scale set takes a size and begins; what becomes of it the operation tells, or the
instances. A size that was asked for counts here until it is there, or was taken back after a refusal, whatever the
scale set says by then: so refusals are judged as those of other clouds are.
"""

import time
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

from azure.identity import WorkloadIdentityCredential
from azure.mgmt.compute import ComputeManagementClient
from azure.mgmt.compute.models import Sku, VirtualMachineScaleSetUpdate, VirtualMachineScaleSetVMInstanceRequiredIDs

from fleet.autoscaler import CLUSTER_TAG

from ..cloud import CHANGE_SECONDS, AnswerLostError, CloudError
from ..group import Failure, Observation
from ..settings import Settings
from . import answers, quota
from .answers import Instance, Place
from .calls import CHECKS, READS, Calls, RefusedError, limits

# Azure takes 900 looks at sets and their instances in half an hour from a subscription ("HighCostGetVMScaleSet30Min").
# Of those, a busy region's list of its sets takes 360, lists of busy sets' instances 360 (one in 5 s) and of resting
# sets' 90 (one in 20 s): so the more sets there are, the longer each waits. The rest is left for changes.
BUSY_AT_ONCE, REST_SECONDS, RESTING_AT_ONCE = 3, 60.0, 3
# A size that was asked for so long ago is nobody's any more, nor is a refusal that nobody has taken back: another
# replica has led since.
ASK_SECONDS, REFUSAL_SECONDS = 900.0, 120.0
# An instance that was told to end is so for so long, though the set's list does not know it yet.
TERMINATING_SECONDS = 300.0
SUCCEEDED, FAILED = "Succeeded", "Failed"
SPOT = "Spot"


class Known(NamedTuple):
    """A set as it was when its instances were last listed."""

    capacity: int
    state: str
    etag: str
    instances: tuple[Instance, ...]
    at: float


class Ask(NamedTuple):
    """A size that was asked for, `at` by the epoch. `url` tells of the operation, from `next_at` on; it is empty where
    that was lost.
    """

    machines: int
    at: float
    url: str = ""
    next_at: float = 0.0
    failure: Failure | None = None


class Azure:
    """`cluster` is the value of its sets' tag."""

    busy_seconds = 5.0
    # Between two lists of a busy set's instances, at least.
    list_seconds = 15.0

    def __init__(self, region: str, cluster: str, place: Place, client: Any) -> None:
        self.region, self.cluster, self.place, self.group = region, cluster, place, place.resource_group
        self.calls, self.sets, self.vms = (
            Calls(region, client),
            client.virtual_machine_scale_sets,
            client.virtual_machine_scale_set_vms,
        )
        self.usage = client.usage
        self.known: dict[str, Known] = {}
        self.asks: dict[str, Ask] = {}
        # When each was told to end, by the monotonic clock; and when each was first seen to have failed, by the epoch.
        self.terminating: dict[str, float] = {}
        self.failed: dict[str, float] = {}
        # Those that were ever seen to stand: what fails of them later leaves them machines.
        self.stood: set[str] = set()

    @classmethod
    def connected(cls, settings: Settings, region: str) -> "Azure":
        """With the token of the pod's service account, for which Entra gives one of its identity."""
        assert settings.azure is not None  # settings.read
        place = Place(settings.azure.subscription_id, settings.azure.resource_groups[region])
        # Whose authority it is the pod says: nobody need be asked whether there is such a one.
        credential = WorkloadIdentityCredential(disable_instance_discovery=True)
        client = ComputeManagementClient(credential, place.subscription)
        return cls(region, settings.cluster, place, client)

    def groups(self) -> tuple[dict[str, Observation], dict[str, str]]:
        """Nobody's end waits for us: a machine itself lets the cloud go on (Scheduled Events)."""
        at = time.monotonic()
        with self.calls.api_call("VirtualMachineScaleSets_List"):
            scale_sets = [one for one in self.sets.list(self.group, **READS) if self._ours(one)]
        busy = sum(not self._still(one) for one in scale_sets)
        waits = (
            REST_SECONDS * max(1.0, (len(scale_sets) - busy) / RESTING_AT_ONCE),
            self.list_seconds * max(1.0, busy / BUSY_AT_ONCE),
        )
        found = {one.name: self._observation(at, one, waits) for one in scale_sets}
        for gone in self.known.keys() - found.keys():
            del self.known[gone]
        here = {one.machine.id for known in self.known.values() for one in known.instances}
        self.failed = {id_: when for id_, when in self.failed.items() if id_ in here}
        self.stood &= here
        return found, {}

    def _ours(self, scale_set: Any) -> bool:
        return bool((scale_set.tags or {}).get(CLUSTER_TAG) == self.cluster)

    def _observation(self, at: float, scale_set: Any, waits: tuple[float, float]) -> Observation:
        known, name = self._instances(scale_set, *waits), scale_set.name
        ask = self.asks.get(name)
        if ask and _over(ask, known, time.time()):
            ask = self._became(name, ask, None)
        desired = max(known.capacity, ask.machines if ask else 0)
        # A copy: machines are told to end beside this.
        ending = {id_ for id_, when in dict(self.terminating).items() if at - when < TERMINATING_SECONDS}
        machines = tuple(
            one.machine._replace(state="ending") if one.machine.id in ending else one.machine
            for one in known.instances
            if not one.spoilt
        )
        spoilt = tuple(one.machine.id for one in known.instances if one.spoilt and one.machine.id not in ending)
        return Observation(at, desired, machines, spoilt=spoilt)

    def _still(self, scale_set: Any) -> bool:
        """Whether nothing of a set has changed since its instances were listed, and nothing comes or goes."""
        known, now = self.known.get(scale_set.name), _sized(scale_set)
        return (
            known is not None
            and (known.capacity, known.state, known.etag) == now
            and known.state == SUCCEEDED
            and len(known.instances) == known.capacity
            and all(one.settled and one.machine.id not in self.terminating for one in known.instances)
        )

    def _instances(self, scale_set: Any, rest_seconds: float, busy_seconds: float) -> Known:
        """Asked for anew where something may have changed, and not too often: it is a call for each set. Until then it
        has the instances that it had, though its size may be another.
        """
        (capacity, state, etag), known, now = _sized(scale_set), self.known.get(scale_set.name), time.monotonic()
        if known is not None:
            still = self._still(scale_set)
            if now - known.at < (rest_seconds if still else busy_seconds) or (still and not capacity):
                return known._replace(capacity=capacity, state=state)
        found = tuple(self._listed(scale_set))
        known = self.known[scale_set.name] = Known(capacity, state, etag, found, now)
        return known

    def _listed(self, scale_set: Any) -> Iterator[Instance]:
        profile = scale_set.properties.virtual_machine_profile
        spot = bool(profile and profile.priority == SPOT)
        with self.calls.api_call("VirtualMachineScaleSetVMs_List"):
            vms = list(self.vms.list(self.group, scale_set.name, expand="instanceView", **READS))
        found = [
            answers.instance(
                self.place, scale_set.name, one, spot=spot, stood=answers.machine_id(scale_set.name, one) in self.stood
            )
            for one in vms
        ]
        self.stood |= {one.machine.id for one in found if one.stands}
        there = {one.machine.id for one in found}
        prefix = f"{scale_set.name}_".lower()
        for gone in [id_ for id_ in dict(self.terminating) if id_.startswith(prefix) and id_ not in there]:
            self.terminating.pop(gone, None)
        for one in found:
            if one.sentence:
                self.failed.setdefault(one.machine.id, time.time())
            yield one

    def failures(self, group: str) -> tuple[Failure, ...]:
        """Of its instances, and of the operation that was to make them."""
        known, ask = self.known.get(group), self.asks.get(group)
        found = [
            Failure(self.failed[one.machine.id], one.sentence)
            for one in (known.instances if known else ())
            if one.sentence and one.machine.id in self.failed
        ]
        # Where its operation is not known, instances say more than their set does.
        if ask and not ask.failure and (ask.url or not found):
            ask = self._request_state(group, ask, known.state if known else SUCCEEDED)
        if ask and ask.failure:
            found.append(ask.failure)
        return tuple(sorted(found, key=lambda one: -one.at))

    def _request_state(self, group: str, ask: Ask, state: str) -> Ask | None:
        """What has become of it; None where it is over and well."""
        if not ask.url:
            sentence = self._set_failed(group) if state == FAILED else ""
            return self._became(group, ask, _refused(ask.machines, sentence)) if sentence else ask
        if time.monotonic() < ask.next_at:
            return ask
        document, seconds = self.calls.status(ask.url)
        over, sentence = answers.outcome(document)
        if over == "done":
            return self._became(group, ask, None)
        if over == "failed":
            return self._became(group, ask, _refused(ask.machines, sentence))
        return self._became(group, ask, ask._replace(next_at=time.monotonic() + seconds))

    def _became(self, group: str, was: Ask, now: Ask | None) -> Ask | None:
        """Unless another size has been asked for while Azure answered."""
        if self.asks.get(group) is not was:
            return None
        if now:
            self.asks[group] = now
        else:
            self.asks.pop(group, None)
        return now

    def _set_failed(self, group: str) -> str:
        with self.calls.api_call("VirtualMachineScaleSets_GetInstanceView"):
            return answers.set_failed(self.sets.get_instance_view(self.group, group, **READS))

    def resize(self, group: str, machines: int) -> None:
        """Never to fewer than there are: Azure would choose itself which go."""
        until = time.monotonic() + CHANGE_SECONDS
        with self.calls.api_call("VirtualMachineScaleSets_Get"):
            scale_set = self.sets.get(self.group, group, **limits(until))
        capacity = scale_set.sku.capacity or 0
        if machines > capacity:
            self._grow(scale_set, machines, until)
            return
        if machines < capacity:
            self._lower(group, machines, until)
        self.asks.pop(group, None)

    def _grow(self, scale_set: Any, machines: int, until: float) -> None:
        """What Azure refuses at once, as what it refuses later, is told by `failures`."""
        profile = scale_set.properties.virtual_machine_profile
        spot, more = bool(profile and profile.priority == SPOT), machines - (scale_set.sku.capacity or 0)
        with self.calls.api_call("Usage_List"):
            usage = list(self.usage.list(self.region, **limits(until)))
        if sentence := quota.lacking(usage, scale_set.sku.name, more, spot=spot):
            self.asks[scale_set.name] = _refused(machines, sentence)
            return
        try:
            url = self._update(scale_set.name, machines, until)
        except RefusedError as error:
            self.asks[scale_set.name] = _refused(machines, error.sentence)
            return
        except AnswerLostError:
            self.asks[scale_set.name] = Ask(machines, time.time())
            raise
        self.asks[scale_set.name] = Ask(machines, time.time(), url)

    def _lower(self, group: str, machines: int, until: float) -> None:
        with self.calls.api_call("VirtualMachineScaleSetVMs_List"):
            vms = list(self.vms.list(self.group, group, **limits(until)))
        there = sum(
            one.properties.provisioning_state != "Deleting" and answers.machine_id(group, one) not in self.terminating
            for one in vms
        )
        if there > machines:
            raise CloudError(f"{self.region}: {group} has {there} machines by now, and is not made smaller than that")
        self._update(group, machines, until)

    def _update(self, group: str, machines: int, until: float) -> str:
        size = VirtualMachineScaleSetUpdate(sku=Sku(capacity=machines))
        return self.calls.change(
            "VirtualMachineScaleSets_Update",
            until,
            lambda **how: self.sets.begin_update(self.group, group, size, **how),
        )

    def size(self, group: str) -> int:
        """The machines that the scale set is to have. Raises CloudError."""
        with self.calls.api_call("VirtualMachineScaleSets_Get"):
            return int(self.sets.get(self.group, group, **CHECKS).sku.capacity or 0)

    def end(self, group: str, ids: Collection[str]) -> dict[str, CloudError]:
        """All in one call, which makes the set as much smaller."""
        numbers = VirtualMachineScaleSetVMInstanceRequiredIDs(instance_ids=[id_.rpartition("_")[2] for id_ in ids])
        try:
            self.calls.change(
                "VirtualMachineScaleSets_DeleteInstances",
                time.monotonic() + CHANGE_SECONDS,
                lambda **how: self.sets.begin_delete_instances(self.group, group, numbers, **how),
            )
        except CloudError as error:
            return dict.fromkeys(ids, error)
        self.terminating |= dict.fromkeys(ids, time.monotonic())
        if ask := self.asks.get(group):
            self.asks[group] = ask._replace(machines=ask.machines - len(ids))
        return {}

    def let_go(self, instance: str, group: str) -> None:
        """Nothing waits."""


def _sized(scale_set: Any) -> tuple[int, str, str]:
    return scale_set.sku.capacity or 0, scale_set.properties.provisioning_state or SUCCEEDED, scale_set.etag or ""


def _refused(machines: int, sentence: str) -> Ask:
    """From now on: Azure's clock is not ours."""
    return Ask(machines, time.time(), failure=Failure(time.time(), sentence))


def _over(ask: Ask, known: Known, now: float) -> bool:
    """Whether the set itself tells all there is to know."""
    if ask.failure:
        there = sum(not one.spoilt for one in known.instances) >= ask.machines
        return there or now - ask.failure.at > REFUSAL_SECONDS
    return now - ask.at > ASK_SECONDS or (known.state == SUCCEEDED and known.capacity >= ask.machines)
