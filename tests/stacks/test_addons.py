"""The stack of add-ons, as far as it goes without a cluster of its own."""

import json
import threading
from pathlib import Path

from local.providers.kubernetes.api import Api
from local.providers.kubernetes.kubeconfig import parse
from stacks.addons import access_of, cluster_of
from tests.support.apiserver import server


def test_its_kubeconfig_opens_an_api_server(tmp_path: Path) -> None:
    with server(tmp_path, controllers=False) as made:
        crt, key = made.authority.leaf("landbridge-admin", ["system:masters"])
        text = access_of(made.url, made.authority.pem, json.dumps({"crt": crt, "key": key}))
        api = Api(parse(text), threading.Event())
        assert api.call("GET", "/api/v1/namespaces/kube-system")["kind"] == "Namespace"


def test_a_stack_is_named_after_its_cluster() -> None:
    assert cluster_of("main-addons") == "main"
    assert cluster_of("two-addons-addons") == "two-addons"
