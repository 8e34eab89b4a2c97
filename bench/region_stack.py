"""Our region program against a bare one that registers the same resources, and three regions against one.

Both sides run in the same run, in turns, on the real engine and the local cloud: an `up` from zero, and previews of a
stack that is up and unchanged, which is what people wait for most.
"""

import json
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pulumi import _types

from local.providers import sdk_types
from tests.local.providers.test_engine import Project
from tests.support.cloud import ROOT, Cloud

ROUNDS, ROUNDS_FROM_ZERO = 4, 3
REGIONS = ("us-west-2", "us-east-1", "eu-west-1")
STACK, OTHER_ACCOUNT, ACCOUNT = "us-west-2", "210987654321", "123456789012"


def seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def bare_program(state: dict[str, Any]) -> str:
    """The stack's resources as plain registrations with literal inputs; ids become references to the resource."""
    lines = ["import pulumi, gc", "gc.freeze(); gc.disable()", "import pulumi_aws as aws"]
    lines.append(f"p = aws.Provider('p', region='{STACK}', allowed_account_ids=['{OTHER_ACCOUNT}'])")
    lines.append("opts = pulumi.ResourceOptions(provider=p)")
    known: dict[str, str] = {}
    for n, resource in enumerate(r for r in state["resources"] if r["type"].startswith("aws:")):
        token = resource["type"]
        found = sdk_types.resource_class(token)
        home = __import__(found.__module__, fromlist=["x"])
        args = getattr(home, f"{found.__name__}InitArgs", None) or getattr(home, f"{found.__name__}Args")
        python = {wire: name for name, wire in _types.input_type_py_to_pulumi_names(args).items()}
        given = {python[key]: value for key, value in resource["inputs"].items() if not key.startswith("__")}
        module = found.__module__.split(".")[1]
        text = ", ".join(f"{name}={literal(value, known)}" for name, value in given.items())
        lines.append(
            f"r{n} = aws.{module}.{found.__name__}('{resource['urn'].rpartition('::')[2]}-{n}', {text}, opts=opts)"
        )
        known[resource["id"]] = f"r{n}.id"
        for key in ("arn",):
            if isinstance(value := resource["outputs"].get(key), str):
                known.setdefault(value, f"r{n}.{key}")
    return "\n".join(lines).replace(ACCOUNT, OTHER_ACCOUNT) + "\n"


def literal(value: Any, known: dict[str, str]) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {literal(item, known)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(literal(item, known) for item in value) + "]"
    return known.get(value, repr(value)) if isinstance(value, str) else repr(value)


def main() -> None:
    folder = Path(tempfile.mkdtemp(prefix="landbridge-bench-"))
    for name in ("fleet.yaml", "fleet.lock.yaml"):
        shutil.copy(ROOT / name, folder / name)
    cloud = Cloud(folder / "home", folder / "fleet.yaml")
    try:
        measure(cloud, folder)
    finally:
        cloud.stop()
        shutil.rmtree(folder, ignore_errors=True)


def measure(cloud: Cloud, folder: Path) -> None:
    cloud.run("up", "--local", "--yes", *REGIONS)
    kept = cloud.home / "local/example/state/.pulumi/stacks/landbridge" / f"{STACK}.json"
    bare = Project(folder / "bare", cloud)
    (folder / "bare/__main__.py").write_text(bare_program(json.loads(kept.read_text())["checkpoint"]["latest"]))
    bare.up()
    ours = Project(folder / "ours", cloud, name="landbridge", state=cloud.home / "local/example/state", phrase="local")
    shutil.copy(cloud.home / f"local/example/Pulumi.{STACK}.yaml", folder / "ours")
    (folder / "ours/__main__.py").write_text(
        f"import runpy, sys\nsys.path.insert(0, {str(ROOT)!r})\nrunpy.run_path({str(ROOT / 'stacks')!r}, run_name='__main__')\n"
    )
    fleet = [f"LANDBRIDGE_FLEET={cloud.fleet}"]
    sides: dict[str, Callable[[], object]] = {
        "bare": lambda: bare.pulumi("preview", "--expect-no-changes"),
        "ours": lambda: ours.pulumi("preview", "--expect-no-changes", "-s", STACK, before=fleet),
        "one": lambda: cloud.run("preview", "--local", STACK),
        "three": lambda: cloud.run("preview", "--local", *REGIONS),
    }
    took: dict[str, list[float]] = {name: [] for name in sides}
    for number in range(ROUNDS + 1):
        for name, work in sides.items():
            spent = seconds(work)
            if number:  # the first round warms up
                took[name].append(spent)
    from_zero: dict[str, list[float]] = {"bare": [], "ours": []}
    for _ in range(ROUNDS_FROM_ZERO):
        for name, project, given in (("bare", bare, []), ("ours", ours, fleet)):
            stack = ["-s", "dev" if name == "bare" else STACK, "--yes", "--skip-preview"]
            project.pulumi("destroy", "--ignore-protect", *stack, before=given)
            from_zero[name].append(
                seconds(lambda run=project, how=stack, env=given: run.pulumi("up", *how, before=env))
            )
    for what, times in (("up from zero", from_zero), ("unchanged preview", took)):
        middle = {name: statistics.median(spent) for name, spent in times.items()}
        ratio = middle["ours"] / middle["bare"]
        print(
            f"{what}: region program {middle['ours']:.2f} s, bare {middle['bare']:.2f} s: {ratio:.2f} times (goal 1.2)"
        )
    print(
        f"unchanged preview: three regions {middle['three']:.2f} s, one {middle['one']:.2f} s: {middle['three'] / middle['one']:.2f} times (goal 2)"
    )


if __name__ == "__main__":
    main()
