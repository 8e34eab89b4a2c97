"""JobSet: upstream's controller of Jobs that begin and end together, which are the parts of a run."""

from components.control_plane.firewall import WEBHOOK_PORTS

from . import controllers, webhooks
from .definitions import definitions
from .images import JOBSET
from .manifests import Manifest, rule
from .spec import AddOnsSpec
from .webhooks import Hook

ADDON, GROUP, VERSION = "jobset", "jobset.x-k8s.io", "v1alpha2"
SERVER = webhooks.Server(ADDON, controllers.SPACE, WEBHOOK_PORTS[ADDON])
# Its own pods bear it. Upstream asks about every pod of the cluster.
OF_JOBSETS = {"matchExpressions": [{"key": "jobset.sigs.k8s.io/jobset-name", "operator": "Exists"}]}
JOBSETS = Hook("jobset", GROUP, VERSION, "jobsets", ("CREATE", "UPDATE"))
PODS = Hook("pod", "", "v1", "pods", ("CREATE",), OF_JOBSETS)
CORES, MEMORY = "100m", "256Mi"


def manifests(spec: AddOnsSpec) -> list[Manifest]:  # noqa: ARG001
    config = {"apiVersion": "config.jobset.x-k8s.io/v1alpha1", **controllers.settings(SERVER)}
    return [
        *definitions(GROUP, ADDON),
        *webhooks.manifests(SERVER, {"mutating": (JOBSETS, PODS), "validating": (JOBSETS, PODS)}),
        *controllers.manifests(SERVER, JOBSET, config, (CORES, MEMORY), rules()),
    ]


def rules() -> list[Manifest]:
    """Upstream's, without rights to what no run of ours has: volumes that a JobSet claims, and jobsets to be made."""
    return [
        rule("", ["nodes"], "get", "list", "watch"),
        rule("", ["pods"], "get", "list", "watch", "delete", "patch", "update"),
        rule("", ["services"], "get", "list", "watch", "create", "delete", "patch", "update"),
        rule("batch", ["jobs"], "get", "list", "watch", "create", "delete", "patch", "update"),
        rule("batch", ["jobs/status"], "get", "patch", "update"),
        rule(GROUP, ["jobsets"], "get", "list", "watch", "patch", "update", "delete"),
        rule(GROUP, ["jobsets/finalizers"], "update"),
        rule(GROUP, ["jobsets/status"], "get", "patch", "update"),
    ]
