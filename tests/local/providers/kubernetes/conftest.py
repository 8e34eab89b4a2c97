"""One API server with controllers for all tests here; each makes namespaces of its own."""

import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.local.providers.kubernetes.bed import ROOT, Project
from tests.support.apiserver import Server, server


@pytest.fixture(scope="package")
def kube(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with server(tmp_path_factory.mktemp("kube")) as made:
        yield made


@pytest.fixture
def namespace(kube: Server) -> str:
    name = f"t-{uuid.uuid4().hex[:8]}"
    kube.apply(
        f"/api/v1/namespaces/{name}", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}, "test"
    )
    return name


# Without the other plugins: they warm up for seconds. A process of its own: gRPC and forks do not go together.
HOST = """
import sys
from local.providers import host
from local.providers.kubernetes.servicer import KubernetesServicer
served = host._Host((host.LOOPBACK, 0), host._Starter)
served.plugins = {"kubernetes": KubernetesServicer}
print(served.server_address[1], flush=True)
served.serve_forever(0.2)
"""


@pytest.fixture(scope="package")
def provider_host() -> Iterator[int]:
    """The provider host's port."""
    process = subprocess.Popen([sys.executable, "-c", HOST], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    yield int(process.stdout.readline())
    process.terminate()
    process.wait()


@pytest.fixture
def project(tmp_path: Path, kube: Server, provider_host: int) -> Project:
    return Project(tmp_path / "project", kube.kubeconfig(), provider_host)
