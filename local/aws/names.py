"""AWS's names inside the local cloud: SERVICE.REGION.amazonaws.com, and a bucket's own name before that."""

import re
from collections.abc import Iterable, Iterator

DOMAIN = "amazonaws.com"
# What machines may ask for. Names of others do not exist there.
SERVICES = (
    "autoscaling",
    "ec2",
    "elasticfilesystem",
    "elasticloadbalancing",
    "kms",
    "logs",
    "monitoring",
    "rolesanywhere",
    "s3",
    "secretsmanager",
    "servicequotas",
    "ssm",
    "sts",
)
NAME = re.compile(
    rf"(?:[a-z0-9][a-z0-9.-]*\.(?=s3\.))?({'|'.join(SERVICES)})\.([a-z]{{2,}}(?:-[a-z]+)+-\d)\.amazonaws\.com"
)


def service_of(name: str) -> tuple[str, str] | None:
    """Service and region of a name; None for one that nobody has here."""
    found = NAME.fullmatch(name.lower())
    return (found[1], found[2]) if found else None


def names(regions: Iterable[str], buckets: Iterable[tuple[str, str]]) -> Iterator[str]:
    """All names of the services in some regions, and of their buckets."""
    known = list(regions)
    for region in known:
        yield from (f"{service}.{region}.{DOMAIN}" for service in SERVICES)
    for bucket, region in buckets:
        if region in known and NAME.fullmatch(f"{bucket}.s3.{region}.{DOMAIN}"):
            yield f"{bucket}.s3.{region}.{DOMAIN}"
