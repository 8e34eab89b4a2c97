"""The cluster's public key infrastructure as data: which authority vouches for whom, under which names, for how long.

Separate authorities, because a key that opens one door must not open another: a kubelet's certificate is worth
nothing to etcd, and a member of the events cluster can't join the main one.
"""

from typing import Literal, NamedTuple

from fleet.people import ADMINS

from .machines import ClusterSpec, Machine

Authority = Literal["kubernetes", "front-proxy", "etcd-clients", "etcd-main-peers", "etcd-events-peers"]
AUTHORITIES: tuple[Authority, ...] = (
    "kubernetes",
    "front-proxy",
    "etcd-clients",
    "etcd-main-peers",
    "etcd-events-peers",
)
# kubeadm's terms: ten years for an authority, one for a certificate. Renewal begins 90 days before the end.
AUTHORITY_HOURS, CERTIFICATE_HOURS, RENEWAL_HOURS = 10 * 365 * 24, 365 * 24, 90 * 24
SERVER, CLIENT = ("server_auth",), ("client_auth",)
BOTH = (*SERVER, *CLIENT)
HERE = ("127.0.0.1",)


class Certificate(NamedTuple):
    """One key pair with its certificate. `name` is unique in the cluster; `file` is its path less the suffix."""

    name: str
    authority: Authority
    common_name: str
    uses: tuple[str, ...]
    file: str
    organization: str = ""
    hosts: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()


def certificates(spec: ClusterSpec, machine: Machine) -> tuple[Certificate, ...]:
    """Those of one machine: exact names and addresses, nothing shared between machines."""
    made = _etcd(machine) if machine.role == "etcd" else _api(spec, machine)
    return tuple(cert._replace(name=f"{machine.name}-{cert.name}") for cert in made)


def _etcd(machine: Machine) -> tuple[Certificate, ...]:
    pki, names, addresses = "/etc/etcd/pki", (machine.host, machine.name), (machine.address,)
    here, loopback = (*names, "localhost"), (*addresses, "127.0.0.1")
    return (
        Certificate("server", "etcd-clients", machine.host, BOTH, f"{pki}/server", "", here, loopback),
        Certificate("main-peer", "etcd-main-peers", machine.host, BOTH, f"{pki}/main-peer", "", names, addresses),
        Certificate("events-peer", "etcd-events-peers", machine.host, BOTH, f"{pki}/events-peer", "", names, addresses),
        Certificate("operator", "etcd-clients", f"{machine.name}-operator", CLIENT, f"{pki}/operator"),
    )


def _api(spec: ClusterSpec, machine: Machine) -> tuple[Certificate, ...]:
    pki = "/etc/kubernetes/pki"
    services = ("kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local")
    hosts = (spec.endpoint, machine.host, machine.name, "localhost", *services)
    addresses = (machine.address, *spec.balancer.values(), spec.first_service, "127.0.0.1")
    return (
        Certificate("apiserver", "kubernetes", "kube-apiserver", SERVER, f"{pki}/apiserver", "", hosts, addresses),
        Certificate("kubelet-client", "kubernetes", "kube-apiserver-kubelet-client", CLIENT, f"{pki}/kubelet-client"),
        Certificate("etcd-client", "etcd-clients", machine.host, CLIENT, f"{pki}/etcd-client"),
        Certificate("front-proxy-client", "front-proxy", "front-proxy-client", CLIENT, f"{pki}/front-proxy-client"),
        Certificate(
            "controller-manager", "kubernetes", "system:kube-controller-manager", CLIENT, f"{pki}/controller-manager"
        ),
        Certificate("scheduler", "kubernetes", "system:kube-scheduler", CLIENT, f"{pki}/scheduler"),
        # It asks the API, and the API asks it: components/pools/joining.py.
        Certificate("joining", "kubernetes", "landbridge-joining", BOTH, f"{pki}/joining", "", ("localhost",), HERE),
    )


def break_glass(spec: ClusterSpec) -> Certificate:
    """The one credential of system:masters: sealed in the secrets store, on no machine."""
    name = f"{spec.name}-break-glass"
    return Certificate(name, "kubernetes", "break-glass", CLIENT, "/dev/null", organization="system:masters")


def admin(spec: ClusterSpec) -> Certificate:
    """What the command line's own calls go by; RBAC binds its group to cluster-admin, and can take that back."""
    name = f"{spec.name}-admin"
    return Certificate(name, "kubernetes", "landbridge-admin", CLIENT, "/dev/null", organization=ADMINS)


class Generations(NamedTuple):
    """Which keys of an authority are trusted, and which of them signs: 1 is the first, a rotation adds the next."""

    trusted: tuple[int, ...] = (1,)
    signing: int = 1

    @property
    def ordered(self) -> tuple[int, ...]:
        """The one that signs first: programs that read one certificate take that."""
        return (self.signing, *(number for number in self.trusted if number != self.signing))


SERVICE_ACCOUNTS = "service-accounts"


class Trust(NamedTuple):
    """Where a machine keeps an authority's certificates; with `key` it may sign in its name.

    Then the one of these that signs lies apart, too, in FILE-signing.crt.
    """

    authority: Authority
    file: str
    key: bool = False


# Controllers sign kubelets' certificates, so the authority's key lies on the API machines.
TRUST: dict[str, tuple[Trust, ...]] = {
    "etcd": (
        Trust("etcd-clients", "/etc/etcd/pki/clients-ca"),
        Trust("etcd-main-peers", "/etc/etcd/pki/main-peers-ca"),
        Trust("etcd-events-peers", "/etc/etcd/pki/events-peers-ca"),
    ),
    "api": (
        Trust("kubernetes", "/etc/kubernetes/pki/ca", key=True),
        Trust("front-proxy", "/etc/kubernetes/pki/front-proxy-ca"),
        Trust("etcd-clients", "/etc/kubernetes/pki/etcd-clients-ca"),
    ),
}
