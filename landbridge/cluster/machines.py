"""A cluster's machines as they are: what stands, with which bundle and image, how healthy; and what ought to be."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Any

from components.control_plane.etcd import RINGS
from landbridge.clouds.cloud import CloudError
from landbridge.errors import LandbridgeError
from landbridge.etcd import waiting
from landbridge.etcd.machine_steps import MachineSteps
from landbridge.etcd.ring import Ctl, View
from landbridge.remote_execution import Instance, RemoteExecutionError

from .info import MachineInfo
from .session import Session

MANIFEST = "/etc/landbridge/manifest.json"
PROGRAMS = "/usr/local/bin"


@dataclass(frozen=True)
class State:
    """One machine. A bundle or image that is not known is empty; `ails` is empty for a healthy machine."""

    name: str
    role: str
    zone: str
    address: str
    instance: str
    bundle: str
    wanted_bundle: str
    image: str
    wanted_image: str
    leads: tuple[str, ...]
    ails: tuple[str, ...]
    kubernetes: str = ""
    wanted_kubernetes: str = ""

    @property
    def behind(self) -> list[str]:
        """Of bundle, image and Kubernetes, those that are not what they ought to be.

        Another Kubernetes is another image, which is not told apart.
        """
        pairs = {
            "bundle": (self.bundle, self.wanted_bundle),
            "image": (self.image, self.wanted_image),
            "Kubernetes": (self.kubernetes, self.wanted_kubernetes),
        }
        found = [what for what, (is_, ought) in pairs.items() if ought and is_ != ought]
        return [what for what in found if what != "image" or "Kubernetes" not in found]

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "behind": self.behind, "healthy": not self.ails}


class Machines:
    """Looks at machines, side by side."""

    def __init__(self, session: Session) -> None:
        self.session, self.info = session, session.info
        self.steps, self.ctl = MachineSteps(session.remote), Ctl(session.remote, session.info)

    def look(self) -> dict[str, State]:
        instances = self.session.cloud.machines(self.info)
        image, views = self.wanted_image(), self.views()
        with ThreadPoolExecutor(8) as pool:
            machines = self.info.machines.values()
            states = pool.map(lambda machine: self.state(machine, instances.get(machine.name), image, views), machines)
            return {state.name: state for state in states}

    def views(self) -> dict[str, View]:
        with ThreadPoolExecutor(len(RINGS)) as pool:
            return dict(zip([r.name for r in RINGS], pool.map(lambda r: self.ctl.look(r.name), RINGS), strict=True))

    def state(self, machine: MachineInfo, instance: Instance | None, image: str, views: dict[str, View]) -> State:
        bundle = self.bundle(machine.name) if instance else ""
        leaders = {ring: view.leader.name for ring, view in views.items() if view.leader}
        return State(
            name=machine.name,
            role=machine.role,
            zone=machine.zone,
            address=machine.address,
            instance=instance.id if instance else "",
            bundle=bundle,
            wanted_bundle=self.wanted_bundle(machine.name),
            image=instance.image if instance else "",
            wanted_image=image,
            leads=tuple(ring for ring, leader in leaders.items() if leader == machine.name),
            ails=tuple(self.ails(machine, instance, views)),
            kubernetes=instance.kubernetes if instance else "",
            wanted_kubernetes=self.info.kubernetes,
        )

    def bundle(self, machine: str) -> str:
        """The version that the machine booted; empty when it can't be asked."""
        try:
            result = self.steps.ask(machine, "cat", MANIFEST, seconds=30)
            return str(json.loads(result.out)["version"]) if result.code == 0 else ""
        except (RemoteExecutionError, ValueError, KeyError):
            return ""

    def wanted_bundle(self, machine: str) -> str:
        """The version that the bucket has, which is what a machine boots. Raises LandbridgeError."""
        key, bucket = f"{self.info.prefix}/{machine}/manifest.json", self.session.bucket
        try:
            if (body := bucket.read(key)) is None:
                raise ValueError("it is not there")
            return str(json.loads(json.loads(body)["manifest"])["version"])
        except (CloudError, ValueError, KeyError) as error:
            raise LandbridgeError(
                f"{machine} has no bundle to boot: {bucket.where(key)}: {error}. Bring the stack "
                f"{self.info.name} up, which publishes it."
            ) from None

    def wanted_image(self) -> str:
        """What the channel of the cluster's version says; empty if nobody has set it."""
        return self.session.cloud.image(self.info.fleet, self.info.kubernetes)

    def installed(self, machine: str) -> str:
        """The version of Kubernetes that the machine itself says it has; every machine's image holds all programs."""
        result = self.steps.ask(machine, f"{PROGRAMS}/kube-apiserver", "--version", seconds=30)
        return result.out.strip().rpartition("v")[2] if result.code == 0 else result.why

    def ails(self, machine: MachineInfo, instance: Instance | None, views: dict[str, View]) -> list[str]:
        if instance is None:
            return ["no instance of it runs"]
        try:
            return self.etcd_ails(machine, views) if machine.role == "etcd" else self.api_ails(machine)
        except RemoteExecutionError as error:
            return [str(error)]

    def etcd_ails(self, machine: MachineInfo, views: dict[str, View]) -> list[str]:
        found = []
        for ring, view in views.items():
            member = view.member(machine.name)
            ails = view.member_ails(member) if member else [view.why or f"{machine.name} is no member"]
            found += [f"etcd {ring}: {ail}" for ail in ails]
        return found

    def api_ails(self, machine: MachineInfo) -> list[str]:
        if not waiting.ready(self.steps, machine.name):
            return ["its API server is not ready"]
        why = self.session.cloud.unbalanced(self.info, machine)
        return [why] if why else []
