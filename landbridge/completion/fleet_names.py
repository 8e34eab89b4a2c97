"""Names in a fleet file, read as they stand: a file that has mistakes, or that somebody is just writing, has names too.

Kept by the file's time, and imports nothing large: a shell waits for it at each Tab.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fleet.where import fleet_path
from landbridge.cluster.kept import stamp
from landbridge.code import private_files

from . import seen_runs

KEPT = "names.json"


def of(fleet_file: str | Path | None) -> dict[str, list[str]]:
    """Kind → names, of the named file or the nearest one. Raises FleetError, OSError and whatever reading raises."""
    path = fleet_path(Path(fleet_file) if fleet_file else None)
    place = private_files.cache_folder().with_name("completion") / KEPT
    kept, when = private_files.read(place), stamp(path)
    entry = kept.get(str(path))
    if not isinstance(entry, dict) or entry.get("stamp") != when:
        from ruamel.yaml import YAML

        entry = {"stamp": when, "names": names(YAML(typ="safe", pure=True).load(path.read_text()))}
        private_files.write(place, {**kept, str(path): entry})
    names_there: dict[str, list[str]] = entry["names"]
    return names_there | derived(names_there, seen_runs.of(path))


def derived(known: dict[str, list[str]], runs: list[str]) -> dict[str, list[str]]:
    """What is named by other names."""
    nodes = [f"node/{host}" for host in known["hosts"]]
    return {
        "contexts": [f"{fleet}-{name}" for fleet in known["fleet"] for name in known["clusters"]],
        "runs": runs,
        "runs and nodes": [*(f"run/{run}" for run in runs), *nodes],
    }


def names(raw: Any) -> dict[str, list[str]]:
    fleet = entries(raw)
    sites = {name: list(entries(entries(site).get("hosts"))) for name, site in section(fleet, "sites").items()}
    found = {kind: list(section(fleet, kind)) for kind in ("regions", "clusters", "pools", "teams", "people")}
    found["fleet"] = [str(fleet["fleet"])] if fleet.get("fleet") else []
    found["sites"] = list(sites)
    found["places"] = [*found["regions"], *found["sites"]]
    found["shares"] = list(section(entries(fleet.get("storage")), "shares"))
    found["stacks"] = stacks(fleet)
    found["hosts"] = list(dict.fromkeys(host for hosts in sites.values() for host in hosts))
    return found | {f"hosts of {site}": hosts for site, hosts in sites.items()}


def stacks(fleet: Mapping[str, Any]) -> list[str]:
    """As `stacks.catalogue` names them, which takes a fleet without mistakes."""
    regions, sites, clusters, pools = (section(fleet, name) for name in ("regions", "sites", "clusters", "pools"))
    links = ["links"] if regions and len(regions) + len(sites) > 1 else []
    laptops = [f"{name}-laptops" for name, region in regions.items() if entries(region).get("laptops") and clusters]
    worked = {entries(pool).get("cluster") for pool in pools.values() if entries(pool).get("kind") != "ssh"}
    addons = [f"{name}-addons" for name in clusters if name in worked]
    return [*regions, *links, *clusters, *laptops, *pools, *addons]


def section(fleet: Mapping[str, Any], name: str) -> dict[str, Any]:
    return entries(fleet.get(name))


def entries(value: Any) -> dict[str, Any]:
    """A mapping with names for keys; empty where something else stands."""
    return {str(key): entry for key, entry in value.items()} if isinstance(value, dict) else {}
