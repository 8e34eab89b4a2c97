"""A pod's volumes: folders below the kubelet's own, laid before its first container and kept up to date."""

import base64
import contextlib
import shutil
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from kube_http import Answer, Json, Kube
from local.machines import kernel
from local.machines.spawn import mapped

from . import environment, payload, shares, tokens
from .background import vital
from .hardware import amount
from .payload import File, Owner
from .unit import say

MODE, TOKEN_MODE = 0o644, 0o600
# The real one's own pace is about a minute, too.
REFRESH_SECONDS = 45.0
CLAIM, HOST = "persistentVolumeClaim", "hostPath"
KINDS = {"configMap": ("configmaps", "name"), "secret": ("secrets", "secretName")}


class Volumes:
    """Of one pod, in `folder`. A thread of their own keeps them up to date between `keep` and `leave`."""

    def __init__(self, api: Kube, pod: Json, folder: Path) -> None:
        self.api, self.pod, self.folder = api, pod, folder
        self.wanted: list[Json] = pod["spec"].get("volumes") or []
        self.shared: dict[str, Path] = {}
        self.tokens: dict[tuple[str, str], tokens.Token] = {}
        self.noted = any(environment.NOTED.fullmatch(path) for path in self.downward())
        self.laid = False
        self.through = threading.Event()
        self.follower: threading.Thread | None = None

    def downward(self) -> Iterator[str]:
        """Fields of the pod that its files have."""
        for volume in self.wanted:
            for source in (volume.get("projected") or {}).get("sources") or []:
                for item in (source.get("downwardAPI") or {}).get("items") or []:
                    yield item["fieldRef"]["fieldPath"]

    def of(self, name: str) -> Path:
        return self.shared.get(name, self.folder / name)

    def lay(self) -> None:
        """All of them. Raises OSError, ValueError, Answer, environment.Lacking."""
        for volume in self.wanted:
            if "emptyDir" in volume:
                self.empty(self.of(volume["name"]), volume["emptyDir"] or {})
            elif HOST in volume:
                self.shared[volume["name"]] = on_host(volume[HOST])
            elif CLAIM in volume:
                space, claim = self.pod["metadata"]["namespace"], volume[CLAIM]["claimName"]
                self.shared[volume["name"]] = shares.folder(self.api, space, claim)
        self.refresh()

    def refresh(self) -> list[str]:
        """Brings the files up to date; the names of volumes that changed. Raises as `lay` does."""
        if self.laid and self.noted:
            # Annotations and labels may have changed.
            meta = self.pod["metadata"]
            self.pod = self.api.ask("GET", f"/api/v1/namespaces/{meta['namespace']}/pods/{quote(meta['name'])}")
        self.laid = True
        owner = self.owner()
        filled = [one for one in self.wanted if not {"emptyDir", CLAIM, HOST} & set(one)]
        return [
            one["name"] for one in filled if payload.write(self.of(one["name"]), dict(self.files(one, owner)), owner)
        ]

    def keep(self, title: str) -> None:
        """Once they are laid. `title` is the pod's, for what is said."""
        self.follower = threading.Thread(target=vital, args=(lambda: self.follow(title),), daemon=True)
        self.follower.start()

    def follow(self, title: str) -> None:
        while not self.through.wait(REFRESH_SECONDS):
            try:
                if changed := self.refresh():
                    say(f"pod {title}: its volumes {', '.join(changed)} have changed")
            except (OSError, ValueError, Answer, environment.Lacking) as error:
                say(f"pod {title}: its volumes stay as they are: {error}")

    def leave(self) -> None:
        self.through.set()

    def end(self) -> None:
        """Takes them away. Raises OSError."""
        self.leave()
        if self.follower:
            self.follower.join()
        drop(self.folder)

    def owner(self) -> Owner:
        """As the kubelet has it: the group of the pod's files, or the one user that all its containers run as."""
        whole = self.pod["spec"].get("securityContext") or {}
        if (group := whole.get("fsGroup")) is not None:
            return Owner(group=group if mapped(group) else None)
        users = {
            (one.get("securityContext") or {}).get("runAsUser", whole.get("runAsUser"))
            for part in ("initContainers", "containers")
            for one in self.pod["spec"].get(part) or []
        }
        user = users.pop() if len(users) == 1 else None
        return Owner(user=user if user is not None and mapped(user) else None)

    def empty(self, place: Path, source: Json) -> None:
        place.mkdir(parents=True, exist_ok=True)
        if source.get("medium") == "Memory" and not place.is_mount():
            size = f",size={int(amount(str(source['sizeLimit'])))}" if source.get("sizeLimit") else ""
            kernel.mount("tmpfs", place, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, f"mode=0777{size}")
        payload.own(place, 0o777, self.owner()._replace(user=None))
        if self.owner().group is not None:
            place.chmod(0o2777)

    def files(self, volume: Json, owner: Owner) -> Iterator[tuple[str, File]]:
        if "projected" in volume:
            source_spec = volume["projected"]
            mode = source_spec.get("defaultMode", MODE)
            # A token is its user's alone, if all containers have the same one.
            token_mode = TOKEN_MODE if owner != Owner() else mode
            for source in source_spec.get("sources") or []:
                yield from self.source(source, mode, token_mode)
        else:
            ((kind, source_spec),) = ((kind, volume[kind]) for kind in KINDS if kind in volume)
            yield from self.data(*KINDS[kind], source_spec, source_spec.get("defaultMode", MODE))

    def source(self, source: Json, mode: int, token_mode: int) -> Iterator[tuple[str, File]]:
        ((kind, projection),) = source.items()
        if kind == "serviceAccountToken":
            yield projection["path"], File(self.token(projection), token_mode)
        elif kind == "downwardAPI":
            for item in projection.get("items") or []:
                content = environment.field(self.pod, item["fieldRef"]["fieldPath"], environment.Place()).encode()
                yield item["path"], File(content, item.get("mode") or mode)
        else:
            yield from self.data(KINDS[kind][0], "name", projection, mode)

    def data(self, plural: str, name: str, projection: Json, mode: int) -> Iterator[tuple[str, File]]:
        """Of a ConfigMap or Secret: all of it, or the items that are asked for."""
        data = self.lookup_bytes(plural, projection[name])
        optional = projection.get("optional", False)
        if data is None:
            if optional:
                return
            raise environment.Lacking(f"{plural.removesuffix('s')} {projection[name]!r} not found")
        items = projection.get("items") or [{"key": key, "path": key} for key in data]
        for item in items:
            if item["key"] in data:
                yield item["path"], File(data[item["key"]], item.get("mode") or mode)
            elif not optional:
                what = f"{plural.removesuffix('s')} {projection[name]!r}"
                raise environment.Lacking(f"{what} references non-existent key: {item['key']}")

    def lookup_bytes(self, plural: str, name: str) -> dict[str, bytes] | None:
        space = self.pod["metadata"]["namespace"]
        try:
            found = self.api.ask("GET", f"/api/v1/namespaces/{space}/{plural}/{quote(name)}")
        except Answer as answer:
            if answer.status == 404:
                return None
            raise
        binary = found.get("binaryData" if plural == "configmaps" else "data") or {}
        plain = (found.get("data") or {}) if plural == "configmaps" else {}
        return {
            **{key: value.encode() for key, value in plain.items()},
            **{key: base64.b64decode(value) for key, value in binary.items()},
        }

    def lookup(self, plural: str, name: str) -> dict[str, str] | None:
        """For variables."""
        data = self.lookup_bytes(plural, name)
        return None if data is None else {key: value.decode(errors="replace") for key, value in data.items()}

    def token(self, projection: Json) -> bytes:
        """The one that there is, or a new one when that is old."""
        which = projection.get("audience", ""), projection["path"]
        token = self.tokens.get(which)
        if token is None or time.time() >= token.renewal:
            audiences = [which[0]] if which[0] else []
            life_seconds = projection.get("expirationSeconds", tokens.LIFE_SECONDS)
            token = self.tokens[which] = tokens.request(self.api, self.pod, audiences, life_seconds)
        return token.text.encode()


def on_host(source: Json) -> Path:
    """A folder of the machine's own. Raises OSError, Lacking."""
    place = Path(source["path"])
    if source.get("type") != "Directory":
        place.mkdir(parents=True, exist_ok=True)
    if not place.is_dir():
        raise environment.Lacking(f"hostPath type check failed: {place} is not a directory")
    return place


def drop(folder: Path) -> None:
    """Takes a pod's volumes away. Raises OSError."""
    for place in folder.iterdir() if folder.is_dir() else ():
        if place.is_mount():
            kernel.unmount(place, lazy=True)
    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(folder)
