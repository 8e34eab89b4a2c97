"""Custom resource definitions of upstream's controllers, as the cluster gets them: `make golden` writes them anew.

They are read from the pinned Go modules. Prose is left out (1.4 MB of one definition are 0.3 MB without), and so are
versions that nothing here speaks: with one version alone no conversion has to run, and nothing waits for a webhook.
"""

import json
import subprocess
from pathlib import Path
from typing import Any

import go_itself
from progress import Progress
from ruamel.yaml import YAML
from running import cache_folder

HERE = Path(__file__).resolve().parent
TARGET = HERE.parent / "components/addons/definitions"
# Module → its hash, of what the definitions were read from.
SOURCES = "modules.json"
# Of features that are off: with clusters of clusters Kueue would wait for one more authority to stand in its place.
UNUSED = "kueue.x-k8s.io_multikueue*.yaml"
# Module's folder in tools/ → the module, and where its definitions lie in it.
MODULES = {name: (f"sigs.k8s.io/{name}", "config/components/crd/bases") for name in ("kueue", "jobset")}


def main() -> None:
    TARGET.mkdir(exist_ok=True)
    hashes: dict[str, str] = {}
    for file in TARGET.glob("*.json"):
        file.unlink()
    for name in MODULES:
        found, hashes[name] = definitions(name)
        for definition in found:
            text = json.dumps(definition, separators=(",", ":"), sort_keys=True)
            (TARGET / f"{definition['metadata']['name']}.json").write_text(f"{text}\n")
    (TARGET / SOURCES).write_text(json.dumps(hashes, indent=2) + "\n")


def definitions(name: str) -> tuple[list[dict[str, Any]], str]:
    """Of a module, in the order of their names, and the module's hash as go.sum has it."""
    module, place = MODULES[name]
    go = go_itself.find(cache_folder(), HERE, HERE.parent / ".landbridge/logs/setup", Progress())
    command = [go, "mod", "download", "-json", module]
    listed = subprocess.run(command, cwd=HERE / name, capture_output=True, text=True, check=True).stdout
    downloaded = json.loads(listed)
    folder = Path(downloaded["Dir"]) / place
    found = [
        trimmed(YAML(typ="safe").load(file.read_text()))
        for file in sorted(folder.glob("*.yaml"))
        if not file.match(UNUSED)
    ]
    return found, downloaded["Sum"]


def trimmed(definition: dict[str, Any]) -> dict[str, Any]:
    """With the version that is stored, without prose."""
    definition = bare(definition)
    spec = definition["spec"]
    spec["versions"] = [version for version in spec["versions"] if version["storage"]]
    name = definition["metadata"]["name"]
    return {**definition, "metadata": {"name": name}}


def bare(part: Any) -> Any:
    """A property may be called description, too: only texts are left out."""
    if isinstance(part, dict):
        texts = [key for key, value in part.items() if key == "description" and isinstance(value, str)]
        return {key: bare(value) for key, value in part.items() if key not in texts}
    return [bare(one) for one in part] if isinstance(part, list) else part


if __name__ == "__main__":
    main()
