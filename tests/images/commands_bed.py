"""`landbridge image …` with a fleet's file, in clouds that are local on loopback."""

import datetime
import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from fleet.address import ledger as ledgers
from fleet.world import drafted
from images.stores.publishing import Waits
from landbridge.clouds.azure import gallery
from landbridge.cluster import session as sessions
from landbridge.commands.image import image
from landbridge.image import stores
from landbridge.places import Place
from local.azure import sign_in
from tests.local.aws.conftest import clients
from tests.local.azure.support import SUBSCRIPTION, LocalAzure

from .azure import bed

ROOT = Path(__file__).parents[2]
LOCAL = Place("local", ROOT, "file:///dev/null", "passphrase", ROOT)

# Of both clouds.
FLEET = f"""\
fleet: FLEET
domain: both.example.com
owner: ops
supernet: 10.128.0.0/9
aws: {{account_id: "123456789012"}}
teams: {{ops: {{gid: 2000}}}}
azure: {{subscription_id: {SUBSCRIPTION}, tenant_id: {sign_in.TENANT}}}
regions:
  southcentralus: {{cloud: azure, zones: ["1"]}}
  us-west-2: {{cloud: aws, zones: [a]}}
  westeurope: {{cloud: azure, zones: ["1"]}}
clusters:
  main: {{region: us-west-2, kubernetes: 1.36.2}}
"""


def in_both(folder: Path, name: str) -> Path:
    """The file of a fleet of that name in both clouds, with its ledger."""
    file = folder / "fleet.yaml"
    file.write_text(FLEET.replace("FLEET", name))
    ledgers.write(ledgers.ledger_path(file), drafted(file, datetime.date(2026, 1, 1))[2].ledger)
    return file


class Commands:
    """Calling it runs a command; what it says. `told` gives its JSON document."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __call__(self, *words: str) -> str:
        done = CliRunner().invoke(image, [*words, "--fleet", str(self.file)], standalone_mode=False)
        if done.exception:
            raise done.exception
        assert done.return_value == 0
        return done.stdout

    def told(self, *words: str) -> Any:
        return json.loads(self(*words, "--json"))


def in_aws(endpoint: str, folder: Path, patch: pytest.MonkeyPatch) -> None:
    """Commands work in the local AWS of an address, with images and a cache of the test's own."""
    make = cache(clients(endpoint))
    patch.setattr(sessions, "the_place", lambda *_, **__: LOCAL)
    patch.setattr(stores, "clients_at", lambda _w, _p, region, *_: lambda name: make(name, region))
    patch.setattr(stores, "LOCAL", Waits(0.1, 100))
    patch.setenv("LANDBRIDGE_IMAGES", str(folder / "images"))
    patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))


def signed_in(azure: LocalAzure, patch: pytest.MonkeyPatch) -> None:
    """And in a local Azure."""
    patch.setattr(gallery, "clients", lambda _: bed.clients(azure))
    patch.setattr(gallery, "credential", azure.credential)
