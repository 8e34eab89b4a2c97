"""Runs from Python: what `landbridge run` does, in a process of its own, which may have to go into the local cloud."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from landbridge.errors import LandbridgeError

from .spec import Run


def launch(
    run: Run,
    folder: Path | str = ".",
    *,
    fleet: Path | str | None = None,
    kubeconfig: Path | str | None = None,
    local: bool = False,
) -> str:
    """Queues a run with a folder's code, and gives its name. Raises LandbridgeError with what the command says."""
    return str(_command("run", run, folder, fleet, kubeconfig, local=local)["name"])


def _command(
    name: str, run: Run, folder: Path | str, fleet: Path | str | None, kubeconfig: Path | str | None, *, local: bool
) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="landbridge-run-") as place:
        # JSON is YAML, too.
        file = Path(place) / "run.yaml"
        file.write_text(json.dumps(run.model_dump(mode="json", exclude_unset=True)))
        words = [sys.executable, "-m", "landbridge", name, f"--file={file}", f"--folder={Path(folder).resolve()}"]
        words += [f"--fleet={fleet}"] if fleet else []
        words += [f"--kubeconfig={Path(kubeconfig).resolve()}"] if kubeconfig else []
        words += ["--local"] if local else []
        done = subprocess.run([*words, "--json"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise LandbridgeError(done.stderr.strip(), done.returncode)
    return dict(json.loads(done.stdout))
