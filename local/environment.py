"""The environment of all that runs in the local cloud: dummies for credentials, and nothing of the user's own."""

import re
from collections.abc import Mapping
from pathlib import Path

from .azure import sign_in

AWS_URL = "http://127.0.0.1:5000"
# The local Azure's own API; Azure's is at Azure's names.
AZURE_URL = "http://127.0.0.1:5003"

# What a program may need of its user's environment. All else stays outside: a forgotten AWS_PROFILE, a token, a proxy.
KEPT = re.compile(
    r"PATH|HOME|USER|LOGNAME|SHELL|TZ|TMPDIR|LANG|LC_\w+|TERM|COLORTERM|NO_COLOR|FORCE_COLOR|COLUMNS|LINES"
    r"|TMUX|STY|XDG_(?:CACHE|DATA|STATE)_HOME|VIRTUAL_ENV|PYTEST_CURRENT_TEST|PULUMI_PARALLEL|LANDBRIDGE_\w+"
)

DUMMIES = {
    "AWS_ACCESS_KEY_ID": "local",
    "AWS_SECRET_ACCESS_KEY": "local",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_ENDPOINT_URL": AWS_URL,
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_CONFIG_FILE": "/dev/null",
    "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
    "AWS_PAGER": "",
    "AZURE_TENANT_ID": sign_in.TENANT,
    "AZURE_CLIENT_ID": sign_in.CLIENT,
    "AZURE_CLIENT_SECRET": sign_in.SECRET,
    "AZURE_TOKEN_CREDENTIALS": "EnvironmentCredential",
}
# Where systems keep whom they trust: Debian and Alpine, Red Hat, others. The local cloud lays its own over it.
AUTHORITIES = ("/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem")


ACCESS_KEY = "LOCAL000{account}"  # of AWS's own form: twenty capitals and digits


def signing_in(account_id: str | None, tenant_id: str | None) -> dict[str, str]:
    """Whom a fleet's programs sign in as: the owner of its AWS account, and of what is in its directory of Azure."""
    aws = {"AWS_ACCESS_KEY_ID": ACCESS_KEY.format(account=account_id)} if account_id else {}
    return aws | ({"AZURE_TENANT_ID": tenant_id} if tenant_id else {})


def scrubbed(environment: Mapping[str, str]) -> dict[str, str]:
    """What is left of `environment` inside the local cloud, with the dummy credentials."""
    passed = {name: value for name, value in environment.items() if KEPT.fullmatch(name)}
    trusted = next((name for name in AUTHORITIES if Path(name).exists()), None)
    return passed | DUMMIES | ({"REQUESTS_CA_BUNDLE": trusted} if trusted else {})
