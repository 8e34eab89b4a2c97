"""Who one is to a registry, as `docker login` has it: in Docker's configuration, or in a program that it names.

The clouds' registries have such programs: docker-credential-ecr-login, docker-credential-acr-env.
https://docs.docker.com/reference/cli/docker/login/#credential-helper-protocol
"""

import base64
import json
import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

# Some ask a cloud, none may ask a person.
SECONDS = 20.0
NAME = re.compile(r"[A-Za-z0-9_.-]+")
# What such a program calls the user when its secret is a token of the registry's own, which is not given as a password.
TOKEN = "<token>"  # noqa: S105 - no secret


def of(registry: str) -> str | None:
    """The login as HTTP's Basic has it; None where there is none that is known here."""
    folder = Path(os.environ.get("DOCKER_CONFIG") or Path.home() / ".docker")
    try:
        config = json.loads((folder / "config.json").read_text())
        helper = config.get("credHelpers", {}).get(registry) or config.get("credsStore")
        return (_of_program(helper, registry) if helper else None) or _of_file(config.get("auths", {}), registry)
    except (OSError, ValueError, AttributeError, KeyError, subprocess.SubprocessError):
        return None


def _of_file(logins: Mapping[str, Any], registry: str) -> str | None:
    found = next((logins[name].get("auth") for name in (registry, f"https://{registry}") if name in logins), None)
    return base64.b64encode(base64.b64decode(found, validate=True)).decode() if found else None


def _of_program(helper: str, registry: str) -> str | None:
    if not NAME.fullmatch(helper):
        return None
    command = [f"docker-credential-{helper}", "get"]
    done = subprocess.run(command, input=registry, capture_output=True, text=True, timeout=SECONDS, check=False)
    if done.returncode:
        return None
    told = json.loads(done.stdout)
    if told["Username"] == TOKEN:
        return None
    return base64.b64encode(f"{told['Username']}:{told['Secret']}".encode()).decode()
