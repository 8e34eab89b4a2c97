"""Who gives people of a team what their pods have printed, and nobody else's: docs/decisions/0071-logs.md.

They come by `kubectl port-forward`, as operators come to VictoriaLogs. Their right is to these pods alone, and whose
lines they get says their team's token, which whoever is no longer of the team can't make.
"""

from fleet import kept_logs
from fleet.monitoring import SPACE
from fleet.people import group

from ..manifests import Manifest, budget, chosen, rights, role, rule, stateful_set
from ..spec import AddOnsSpec
from ..system_pods import alive, ours, system_pod
from . import logs

ADDON, PORT = kept_logs.READER, kept_logs.READER_PORT
# The right of people.
ASKING = "log-asking"


def wanted(spec: AddOnsSpec) -> bool:
    return logs.wanted(spec) and bool(spec.fleet.teams)


def manifests(spec: AddOnsSpec) -> list[Manifest]:
    reviews = rule("authentication.k8s.io", ["tokenreviews"], "create")
    return [
        *rights(ADDON, ADDON, [reviews], space=SPACE),
        *_of_people(spec),
        # People's right is to pods by their names.
        stateful_set(ADDON, ADDON, kept_logs.REPLICAS, _pod(spec), space=SPACE, service=logs.ADDON),
        budget(ADDON, ADDON, chosen(ADDON, ADDON), SPACE),
    ]


def _of_people(spec: AddOnsSpec) -> list[Manifest]:
    """To a port of these pods. kubectl looks first whether one runs; a port by WebSocket is a GET, and may ask both."""
    names = {"resourceNames": kept_logs.pods(ADDON)}
    rules = [rule("", ["pods"], "get") | names, rule("", ["pods/portforward"], "get", "create") | names]
    api = "rbac.authorization.k8s.io"
    teams = [{"kind": "Group", "name": group(team), "apiGroup": api} for team in sorted(spec.fleet.teams)]
    return role("Role", ASKING, ADDON, SPACE, rules, *teams)


def _pod(spec: AddOnsSpec) -> Manifest:
    words = [
        *(f"--store={name}={logs.address(name)}" for name in logs.replicas()),
        *(f"--team={team}" for team in sorted(spec.fleet.teams)),
        f"--listen=:{PORT}",
    ]
    reader = ours(ADDON, "10m", "64Mi", ["python3", "-m", "services.log_reader", *words], **alive(PORT))
    return system_pod(ADDON, containers=[reader])
