"""A rule of a security group for all traffic has no ports; moto asks for them when it is modified.

EC2 API, SecurityGroupRuleRequest: "If the protocol is TCP or UDP" for its ports, and -1 for all of them in answers.
"""

from typing import Any

from moto.ec2.models.security_groups import SecurityGroupBackend

from .patching import override

ALL = "-1"


def install() -> None:
    @override(SecurityGroupBackend, "modify_security_group_rules")
    def modify(self: Any, original: Any, group_id: str, rules: dict[str, dict[str, Any]]) -> None:  # noqa: ARG001
        ports = {"FromPort": ALL, "ToPort": ALL}
        original(
            group_id,
            {name: {**rule, **(ports if rule.get("IpProtocol") == ALL else {})} for name, rule in rules.items()},
        )
