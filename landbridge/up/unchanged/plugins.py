"""Look-ups of a program, made again without an engine: by the provider's own plugin, as the engine would ask it."""

import json
import os
import subprocess
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from google.protobuf import struct_pb2

from landbridge.places import Place
from stacks.engine_calls import digest_of

SECONDS = 20.0
PROVIDER = "pulumi:providers:"
# The engine marks what is a secret so; no look-up of ours goes by a provider that holds one.
SECRET = "4dabf18193072939515e22adb298388d"  # noqa: S105
ASKERS = 4


class PluginError(Exception):
    """A look-up that could not be made again. The text says why."""


def again(place: Place, passed: Mapping[str, str], lookups: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """Digests of what look-ups give now, by themselves (JSON of stacks.engine_calls); `lookups` has each one's state.

    One that can't be made has a text of its own for a digest, which is never equal.
    """
    groups: dict[tuple[str, str], list[str]] = {}
    found: dict[str, str] = {}
    for text, state in lookups.items():
        try:
            groups.setdefault(provider_of(json.loads(text)["provider"], state), []).append(text)
        except PluginError as error:
            found[text] = f"failed: {error}"
    with ThreadPoolExecutor(ASKERS) as pool:
        for some in pool.map(lambda group: ask(place, passed, *group), groups.items()):
            found.update(some)
    return found


def provider_of(urn: str, state: Mapping[str, Any]) -> tuple[str, str]:
    """The package of a provider, and its inputs as JSON. Raises PluginError."""
    for one in state.get("resources") or ():
        if one["urn"] == urn and one["type"].startswith(PROVIDER):
            inputs = json.dumps(one.get("inputs") or {}, sort_keys=True)
            if SECRET in inputs:
                raise PluginError(f"the provider {urn} holds a secret")
            return one["type"].removeprefix(PROVIDER), inputs
    raise PluginError(f"there is no provider {urn}")


def ask(place: Place, passed: Mapping[str, str], provider: tuple[str, str], texts: Iterable[str]) -> dict[str, str]:
    """Digests of what one provider's plugin says to each."""
    import grpc
    from pulumi.runtime.proto import provider_pb2, provider_pb2_grpc

    package, inputs = provider
    try:
        with ExitStack() as stack:
            process = subprocess.Popen(
                [program(place, package, json.loads(inputs)), "127.0.0.1:0"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=dict(passed),
                text=True,
            )
            stack.callback(process.wait)
            stack.callback(process.kill)
            assert process.stdout is not None
            port = process.stdout.readline().strip()
            stack.enter_context(process.stdout)
            if not port.isdigit():
                raise PluginError(f"the plugin of {package} did not start")
            channel = stack.enter_context(grpc.insecure_channel(f"127.0.0.1:{port}"))
            stub: Any = provider_pb2_grpc.ResourceProviderStub(channel)
            configured = {name: value for name, value in json.loads(inputs).items() if not name.startswith("__")}
            variables = {f"{package}:config:{name}": str(value) for name, value in configured.items()}
            stub.Configure(provider_pb2.ConfigureRequest(variables=variables, args=struct(configured)), timeout=SECONDS)
            found = {}
            for text in texts:
                what = json.loads(text)
                request = provider_pb2.InvokeRequest(tok=what["tok"], args=struct(what["args"]))
                answer = stub.Invoke(request, timeout=SECONDS)
                found[text] = "failed" if list(answer.failures) else digest_of(getattr(answer, "return"))
            return found
    except (grpc.RpcError, PluginError, OSError) as error:
        return dict.fromkeys(texts, f"failed: {error}")


def program(place: Place, package: str, inputs: Mapping[str, Any]) -> str:
    """The plugin that the engine would start. Raises PluginError."""
    from ruamel.yaml import YAML

    name = f"pulumi-resource-{package}"
    project = YAML(typ="safe").load(place.project / "Pulumi.yaml")
    for one in (project.get("plugins") or {}).get("providers") or ():
        if one["name"] == package:
            return str(place.project / one["path"] / name)
    version = inputs.get("version") or (inputs.get("__internal") or {}).get("version")
    home = Path(os.environ.get("PULUMI_HOME") or Path.home() / ".pulumi") / "plugins"
    installed = sorted(home.glob(f"resource-{package}-v{version or '*'}/{name}"))
    if len(installed) != 1:
        raise PluginError(f"there is not one plugin of {package} in {home}")
    return str(installed[0])


def struct(values: Mapping[str, Any]) -> struct_pb2.Struct:
    made = struct_pb2.Struct()
    made.update(dict(values))
    return made
