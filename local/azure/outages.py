"""Resource groups that are out, on request: whoever asks for anything that is in one gets no more than a 503.

A region of a fleet is one group, so this is a region that is lost: to ARM, and at its account's and its vault's names.
"""

import re

from .errors import ArmError
from .kinds import World
from .resources import storage_accounts, vaults

GROUP = re.compile(r"/resourcegroups/([^/]+)")
FINDERS = {"blob": storage_accounts.find, "vault": vaults.find}
_out: set[str] = set()


def put(groups: set[str]) -> None:
    """Replaces all; names of groups."""
    _out.clear()
    _out.update(group.lower() for group in groups)


def listing() -> list[str]:
    return sorted(_out)


def refuse(world: World, service: str, of: str, path: str) -> None:
    """Raises ArmError. `of` is the account or vault whose name was asked, `path` what was asked of ARM."""
    if not _out:
        return
    found = FINDERS[service](world, of) if service in FINDERS else None
    match = GROUP.search((found.id.text if found else path).lower())
    if match and match[1] in _out:
        raise ArmError(503, "ServiceUnavailable", f"{match[1]} does not answer, as a test asked for")
