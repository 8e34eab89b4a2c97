"""What a vault keeps, for a program: Pulumi's provider writes secrets of Key Vault, and reads none.

The token is the provider's own, so it is whoever runs the program that reads, by a role on the vault.
"""

import json
import time
import urllib.error
import urllib.request
from urllib.parse import quote

import pulumi
import pulumi_azure_native as azure

AUDIENCE, DOMAIN, VERSION = "https://vault.azure.net", "vault.azure.net", "7.4"
TRIES, PAUSE_SECONDS, TIMEOUT_SECONDS = 4, 2.0, 20.0
NOT_YET = "Run `landbridge up` for the cluster first"


class SecretError(pulumi.RunError):
    """The text is for the user."""


def secret(vault: str, name: pulumi.Input[str], provider: azure.Provider, absent: str = NOT_YET) -> pulumi.Output[str]:
    """The newest version of a secret of the vault, as a secret; a slash of its name is --. Fails with SecretError.

    `absent` says what to do where there is none.
    """
    options = pulumi.InvokeOutputOptions(provider=provider)
    token = pulumi.Output.secret(azure.authorization.get_client_token_output(endpoint=AUDIENCE, opts=options).token)
    read: pulumi.Output[str] = pulumi.Output.all(name, token).apply(lambda it: newest(vault, it[0], it[1], absent))
    return read


def newest(vault: str, name: str, token: str, absent: str = NOT_YET) -> str:
    """Raises SecretError."""
    url = f"https://{vault}.{DOMAIN}/secrets/{quote(name.replace('/', '--'), safe='')}?api-version={VERSION}"
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"})
    for left in reversed(range(TRIES)):
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:  # noqa: S310 (https alone)
                return str(json.load(answer)["value"])
        except urllib.error.HTTPError as error:
            if (error.code < 500 and error.code != 429) or not left:
                raise SecretError(_refusal(vault, name, error, absent)) from None
        except OSError as error:
            if not left:
                raise SecretError(f"vault {vault} cannot be reached for secret {name}: {error}") from None
        time.sleep(PAUSE_SECONDS)
    raise AssertionError


def _refusal(vault: str, name: str, error: urllib.error.HTTPError, absent: str) -> str:
    message = f"vault {vault} does not tell secret {name}: {error.code} {error.reason}"
    if error.code == 403:
        return f"{message}. Whoever runs this needs the role Key Vault Secrets Officer there: see azure.operators"
    return f"{message}. {absent}" if error.code == 404 else message
