"""What a pod's container becomes: its program, its account, its mounts, as the pod's fields say."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from local.machines.spawn import mapped

from . import containers, environment, images
from .containers import Become
from .names import HOSTS
from .volumes import CLAIM, HOST, Volumes

Json = dict[str, Any]


class Made(NamedTuple):
    become: Become
    remarks: list[str]


class Account(NamedTuple):
    user: int
    group: int
    groups: tuple[int, ...]


def account(pod: Json, container: Json) -> Account:
    """A container's own settings go before its pod's. Raises environment.Lacking for a root that must not be."""
    whole, own = pod["spec"].get("securityContext") or {}, container.get("securityContext") or {}
    both = {**whole, **{name: value for name, value in own.items() if value is not None}}
    user = both.get("runAsUser", 0)
    if both.get("runAsNonRoot") and user == 0:
        raise environment.Lacking("container has runAsNonRoot and image will run as root")
    extra = [*(whole.get("supplementalGroups") or ()), *([whole["fsGroup"]] if "fsGroup" in whole else ())]
    return Account(user, both.get("runAsGroup", 0), tuple(sorted(set(extra))))


def mounts(container: Json, volumes: Volumes, writable: Iterable[str], hosts: Path | None) -> list[Json]:
    """What is not `writable` is not, whatever the mount says."""
    names = [{"source": str(hosts), "at": str(HOSTS), "read_only": True}] if hosts else []
    return names + [
        {
            "source": str(volumes.of(one["name"])),
            "at": one["mountPath"],
            "read_only": bool(one.get("readOnly")) or one["name"] not in writable,
        }
        for one in container.get("volumeMounts") or []
    ]


def can_be_written(volume: Json) -> bool:
    """Only these ("Volumes": the others are read-only)."""
    return "emptyDir" in volume or HOST in volume or (CLAIM in volume and not volume[CLAIM].get("readOnly"))


def become(pod: Json, container: Json, place: environment.Place, volumes: Volumes, hosts: Path | None = None) -> Made:
    """`hosts` is a file of its names. Raises environment.Lacking, and what `volumes.lookup` raises."""
    image, who = container["image"], account(pod, container)
    variables = environment.known_variables(pod, container, place, volumes.lookup)
    words = environment.words(container, variables)
    program = images.program(image, container["command"][0])
    if program is None:
        raise environment.Lacking(f"the program of {image} is not on this machine: {images.HINT}")
    context = container.get("securityContext") or {}
    closed, own = bool(context.get("readOnlyRootFilesystem")), images.of(image) is None
    writable = [one["name"] for one in pod["spec"].get("volumes") or [] if can_be_written(one)]
    remarks = []
    if not all(mapped(one) for one in (who.user, who.group, *who.groups)):
        remarks.append(f"runs as root, not as {who.user}: this user namespace has no user but root")
    made = Become(
        program=program,
        words=words,
        environment={**environment.given(pod, image, root=who.user == 0), **variables},
        folder=container.get("workingDir") or "/",
        account=containers.account(*who),
        no_new_privileges=context.get("allowPrivilegeEscalation") is False,
        read_only=closed or own,
        scratch=not closed,
        own_etc=hosts is not None,
        mounts=mounts(container, volumes, writable, hosts),
        host_name=environment.host_name(pod),
    )
    return Made(made, remarks)
