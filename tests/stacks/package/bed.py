"""What tests of the package have in common: SDKs that Pulumi makes of it, and a project of a user's own."""

import os
import subprocess
import sys
from pathlib import Path

from tests.local.providers.test_engine import Project
from tests.support.cloud import ROOT, Cloud

OFFLINE = {"PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true", "PULUMI_SKIP_UPDATE_CHECK": "true"}
LANGUAGES = ROOT / ".landbridge/languages"
# Of the fleet in examples/own-program.
STATE = "local/own/state"


def build_languages() -> None:
    """Hosts of other languages, from the user's cache or from source."""
    subprocess.run([sys.executable, str(ROOT / "tools/languages.py")], check=True, capture_output=True)


def path(*more: Path) -> str:
    folders = [ROOT / ".landbridge/bin", LANGUAGES, *more]
    return os.pathsep.join([*map(str, folders), os.environ["PATH"]])


def sdk(folder: Path, language: str, plugin: Path | None = None) -> Path:
    """The folder of one, as `pulumi package add` makes it; by default of this checkout.

    That would first install, by the network, what PulumiPlugin.yaml says: the plugin has a way of its own here.
    """
    if plugin is None:
        plugin = folder / "plugin/pulumi-resource-landbridge"
        plugin.parent.mkdir(parents=True, exist_ok=True)
        plugin.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{ROOT}" "$@"\n')
        plugin.chmod(0o755)
    words = ["package", "gen-sdk", str(plugin), "--language", language, "--local", "--out", "."]
    run(folder, "pulumi", "--non-interactive", *words)
    return folder / language


def run(folder: Path, *command: str) -> str:
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, **OFFLINE, "PATH": path()},
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def installed(sdk_folder: Path) -> Path:
    """The Python SDK where a program finds it: it asks for its own version, so that a copy will not do."""
    place = sdk_folder.parent / "installed"
    words = ["install", "--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--target", str(place)]
    run(sdk_folder, sys.executable, "-m", "pip", *words, str(sdk_folder))
    return place


def project(folder: Path, cloud: Cloud) -> Project:
    """A user's own, beside the fleet's in one state; the plugin is the repository as PulumiPlugin.yaml has it."""
    made = Project(folder, cloud, name="own-program", state=cloud.home / STATE, phrase="local")
    with (folder / "Pulumi.yaml").open("a") as file:
        file.write(f"    - {{name: landbridge, path: {ROOT}}}\n")
        file.write(f"    - {{name: kubernetes, path: {ROOT / 'local/plugins/kubernetes'}}}\n")
    made.pulumi("config", "set", "fleet", str(cloud.fleet))
    return made
