"""The service as a program, with Azure's names led to the local Azure that LANDBRIDGE_TEST_AZURE tells of.

How its pod signs in is not in it: tests/e2e/azure/test_addons.py has that.
"""

import json
import os
import sys
from pathlib import Path
from unittest.mock import patch

from azure.mgmt.compute import ComputeManagementClient

from services.autoscaler import __main__ as service
from services.autoscaler.azure.answers import Place
from services.autoscaler.azure.cloud import Azure
from services.autoscaler.settings import Settings
from tests.local.azure.support import LocalAzure

VARIABLE = "LANDBRIDGE_TEST_AZURE"


def told(azure: LocalAzure) -> dict[str, str]:
    """What goes into the program's environment."""
    return {VARIABLE: json.dumps([azure.port, azure.tls, str(azure.authority)])}


def connected(settings: Settings, region: str) -> Azure:
    port, tls, authority = json.loads(os.environ[VARIABLE])
    assert settings.azure is not None
    place = Place(settings.azure.subscription_id, settings.azure.resource_groups[region])
    client = LocalAzure(port, tls, Path(authority)).client(ComputeManagementClient)
    return Azure(region, settings.cluster, place, client)


if __name__ == "__main__":
    with patch.object(Azure, "connected", connected):
        code = service.main()
    sys.stdout.flush()
    os._exit(code)
