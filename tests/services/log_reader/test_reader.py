"""People of a team ask for kept logs: the real VictoriaLogs, tokens of a real API server, rights as add-ons give them."""

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

import pytest

from components.addons.monitoring import log_reader, logs
from components.addons.spec import addons_spec
from fleet.kept_logs import AUDIENCE, READER, READER_PORT
from fleet.model import Person as Someone
from fleet.monitoring import SPACE
from fleet.people import group
from fleet.team_storage import ACCOUNT
from kube_http import Kube as Client
from landbridge.access import rbac
from landbridge.access.person import Person
from landbridge.cluster.kube import Kube
from landbridge.commands import logs as command
from landbridge.errors import LandbridgeError, UsageError
from landbridge.monitoring import log_stores
from landbridge.monitoring.kept_logs import Ask, at
from services.log_reader.callers import Callers
from services.log_reader.reader import served
from tests.components.addons import bed
from tests.components.addons.cloud import token
from tests.landbridge.experiments.bed import world
from tests.support.apiserver import HERE, Server, free_port, server
from tests.support.logs import Machine, store
from tests.support.waiting import eventually

FIRST = logs.replicas()[0]
# kubectl port-forward to a pod that no kubelet runs here: what it says, and that it stays.
SAYS = "import sys, time; print(sys.argv[1], flush=True); time.sleep(600)"
GONE = "import sys; sys.exit('Error from server (NotFound): pods not found')"


class Standing(NamedTuple):
    """`port` is the reader's."""

    api: Server
    port: int

    @property
    def address(self) -> str:
        return f"http://{HERE}:{self.port}"


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standing]:
    """Lines of two teams, in one store; the other one is away."""
    folder = tmp_path_factory.mktemp("reader")
    machine, made = Machine(folder / "host-1", "host-1.lab"), world()
    people = {"bob": Someone(team="speech", uid=3000)}
    fleet = bed.measured(made.fleet).model_copy(update={"people": people})
    with (
        # `edit` is made of other roles.
        server(folder, also="clusterrole-aggregation-controller") as api,
        store(folder / "store", free_port()) as address,
        machine.collecting(address),
    ):
        _install(api, addons_spec(fleet, made.plan, "main"))
        machine.prints("team-speech", "train-main-0-0-abcde", "speech's secret\n")
        machine.prints("team-robots", "train-main-0-0-abcde", "robots's secret\n")
        machine.says("kubelet", "the machine's secret")
        made_of = "/apis/rbac.authorization.k8s.io/v1/clusterroles/edit"
        eventually(lambda: bool((api.find(made_of) or {}).get("rules")), 60)
        ask = at(f"{address}/select/logsql/query")
        eventually(lambda: next(ask('{node="host-1.lab"} | stats count() n'))["n"] == "3", 60)
        client = Client(api.url, str(api.folder / "ca.crt"), token=lambda: token(api, SPACE, READER, api.issuer))
        stores = {FIRST: address, logs.replicas()[1]: f"http://{HERE}:{free_port()}"}
        pages = served(f"{HERE}:0", stores, Callers(client, fleet.teams))
        yield Standing(api, pages.server_address[1])
        pages.shutdown()


def _install(api: Server, spec: Any) -> None:
    apply = bed.Applying(api)
    apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": SPACE}})
    for manifest in [*rbac.teams(spec.fleet), *rbac.person(spec.fleet, "bob", "2030-01-01")]:
        apply(manifest)
    for space in ("team-speech", "team-robots", "default"):
        meta = {"name": ACCOUNT, "namespace": space}
        apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta})
    kinds = ("ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding")
    for manifest in log_reader.manifests(spec):
        if manifest["kind"] in kinds:
            apply(manifest)


def asking(standing: Standing, space: str = "team-speech", name: str = ACCOUNT, audience: str = AUDIENCE) -> Ask:
    return at(f"{standing.address}/{FIRST}/query", token(standing.api, space, name, audience))


def said(ask: Ask, query: str) -> str:
    return json.dumps(list(ask(query)))


@pytest.mark.parametrize(
    "query",
    [
        "*",
        "* | union (*)",
        "* | union (_msg:secret | union (*))",
        '* or file:~"team-robots"',
        "!(file:nothing)",
        "* | join by (node) (* | fields node, _msg, file)",
        "_msg:in(* | fields _msg)",
        "* | stream_context before 10 after 10",
        "_stream_id:in(* | fields _stream_id) | union (_stream_id:in(* | fields _stream_id))",
        "* | stats by (file) values(_msg) all",
        "* | field_values _msg",
        "* | facets",
        "options(global_filter=(*)) *",
        "options(ignore_global_time_filter=true) * | sort by (_time)",
        # What would end the parameter, were it put together by hand.
        "*&extra_stream_filters=",
    ],
)
def test_whatever_is_asked_no_line_of_others_comes(standing: Standing, query: str) -> None:
    try:
        found = said(asking(standing), query)
    except OSError as error:
        found = f"refused: {error}"
        assert "cannot parse" in found
    assert "robots" not in found
    assert "machine's" not in found


def test_a_team_gets_its_own(standing: Standing) -> None:
    for team, other in (("speech", "robots"), ("robots", "speech")):
        found = said(asking(standing, f"team-{team}"), "* | union (*)")
        assert f"{team}'s secret" in found
        assert other not in found


@pytest.mark.parametrize(
    ("space", "name", "audience"),
    [
        # What the API itself takes, which each pod of the team has.
        ("team-speech", ACCOUNT, "https://test.example.com"),
        ("team-speech", ACCOUNT, "sts.amazonaws.com"),
        # Of no team.
        ("default", ACCOUNT, AUDIENCE),
        (SPACE, READER, AUDIENCE),
    ],
)
def test_no_other_token_is_taken(standing: Standing, space: str, name: str, audience: str) -> None:
    with pytest.raises(OSError, match="the token is of no team of this cluster, or is not for logs"):
        list(asking(standing, space, name, audience)("*"))


def test_without_a_token_or_a_store_it_answers_nothing(standing: Standing) -> None:
    given = token(standing.api, "team-speech", ACCOUNT, AUDIENCE)
    for ask, why in (
        (at(f"{standing.address}/{FIRST}/query"), "the token is of no team"),
        (at(f"{standing.address}/{FIRST}/query", "x" * 20), "the token is of no team"),
        (at(f"{standing.address}/other/query", given), "ask at /STORE/query, of victoria-logs-0, victoria-logs-1"),
        (at(f"{standing.address}/victoria-logs-1/query", given), "VictoriaLogs does not answer"),
    ):
        with pytest.raises(OSError, match=why):
            list(ask("*"))
    with pytest.raises(OSError, match="a query has 65536 bytes at most"):
        list(at(f"{standing.address}/{FIRST}/query", given)("x" * (1 << 17)))


def person(standing: Standing, pods: tuple[str, ...] = (f"{READER}-1",)) -> Person:
    """Bob of speech, with kubectl as it is, but for ports: of `pods` that are there."""

    def around(words: list[str]) -> list[str]:
        if words[1] != "port-forward":
            return words
        assert words[-1] == f":{READER_PORT}"
        there = words[2].removeprefix("pod/") in pods
        told = [SAYS, f"Forwarding from {HERE}:{standing.port} -> {READER_PORT}"] if there else [GONE]
        return [sys.executable, "-S", "-c", *told]

    made, place = world(), cast(Any, SimpleNamespace(options=""))
    kube = Kube(standing.api.kubeconfig("bob", [group("speech")]), around)
    return Person(replace(made, fleet=bed.measured(made.fleet)), place, "main", kube, "bob", "speech")


def test_a_person_of_a_team_finds_what_their_pods_have_printed(standing: Standing, capfdbinary: Any) -> None:
    bob = person(standing)
    assert command.of_node(bob, "host-1.lab", (), None) == 0
    told = capfdbinary.readouterr()
    assert told.out[20:] == b" team-speech/train-main-0-0-abcde run: speech's secret\n"
    assert told.err.startswith(b"victoria-logs-1 does not answer, and what it alone has is missing: VictoriaLogs does")
    with pytest.raises(UsageError, match="What a machine itself says is for operators"):
        command.of_node(bob, "host-1.lab", ("kubelet",), None)
    with pytest.raises(LandbridgeError, match="main keeps no logs yet"), log_stores.opened(person(standing, ())):
        pass


@pytest.mark.parametrize(
    ("may", "verb", "resource", "name"),
    [
        (True, "get", "pods", f"{READER}-0"),
        (True, "create", "pods/portforward", f"{READER}-1"),
        (False, "create", "pods/portforward", FIRST),
        (False, "create", "pods/exec", f"{READER}-0"),
        (False, "list", "pods", ""),
        (False, "get", "secrets", "alarm-receivers"),
    ],
)
def test_a_person_s_rights_there_are_to_the_reader_alone(
    standing: Standing, *, may: bool, verb: str, resource: str, name: str
) -> None:
    kind, _, sub = resource.partition("/")
    attributes = {"namespace": SPACE, "verb": verb, "resource": kind, "subresource": sub, "name": name}
    spec = {"user": "bob", "groups": [group("speech")], "resourceAttributes": attributes}
    body = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec}
    answer = standing.api.api.call("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", {}, body)
    assert answer["status"]["allowed"] is may
