"""What may stand in the description of a security group and of its rules; moto takes anything.

EC2 API, CreateSecurityGroup and IpRange: up to 255 characters out of a-z, A-Z, 0-9, spaces and ._-:/()#,@[]+=&;{}!$*.
An apostrophe is none of them: terraform-provider-aws issue 18874 has the message.
"""

import re
from typing import Any

from moto.ec2.exceptions import EC2ClientError
from moto.ec2.models.security_groups import SecurityGroupBackend

from .patching import override

ALLOWED = re.compile(r"[a-zA-Z0-9. _\-:/()#,@\[\]+=&;{}!$*]{0,255}")
SOURCES = ("ip_ranges", "source_groups", "prefix_list_ids")


def install() -> None:
    @override(SecurityGroupBackend, "create_security_group")
    def create_security_group(self: Any, original: Any, name: str, description: str, *args: Any, **given: Any) -> Any:  # noqa: ARG001
        check("security group", description)
        return original(name, description, *args, **given)

    for direction in ("ingress", "egress"):

        @override(SecurityGroupBackend, f"authorize_security_group_{direction}")
        def authorize(self: Any, original: Any, *args: Any, **given: Any) -> Any:  # noqa: ARG001
            for source in (one for name in SOURCES for one in given.get(name) or ()):
                if isinstance(source, dict):
                    check("rule", source.get("Description"))
            return original(*args, **given)


def check(what: str, description: str | None) -> None:
    """Raises EC2ClientError."""
    if not ALLOWED.fullmatch(description or ""):
        raise EC2ClientError(
            "InvalidParameterValue",
            f"Invalid {what} description. Valid descriptions are strings less than 256 characters from the following "
            "set:  a-zA-Z0-9. _-:/()#,@[]+=&;{}!$*",
        )
