"""A cluster's control plane on AWS: keys, machines, security groups, names, and the load balancer before the API."""

import pulumi
import pulumi_aws as aws

from fleet.fitting import fitting

from ..control_plane import RECORD_SECONDS, AnyControlPlane, AnyControlPlaneArgs
from ..firewall import DESCRIPTIONS, Part, Rule, rules
from ..machines import API_PORT, READY_PATH, Machine
from ..pki import admin, break_glass
from .issuer import Issuer
from .machine import ControlPlaneMachine

# AWS's bound for names of balancers and target groups.
BALANCER_NAME = 32
CHECK_SECONDS, CHECKS = 10, 2


class ControlPlaneArgs(AnyControlPlaneArgs):
    """Ids are the home region's: `zone_id` of the private zone.

    `copies_key_arn` is the key of the second region, where the fleet file wants copies of the cluster's data.
    """

    network_id: pulumi.Input[str]
    zone_id: pulumi.Input[str]
    key_arn: pulumi.Input[str]
    copies_key_arn: pulumi.Input[str] | None


class ControlPlane(AnyControlPlane):
    """`machines` by name, `authority` with all keys.

    `break_glass` and `admin` name the secrets with a credential, `recovery` the one with every key.
    """

    def __init__(self, name: str, args: ControlPlaneArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        self.args = args
        self.groups: dict[str, aws.ec2.SecurityGroup] = {part: self._security_group(part) for part in DESCRIPTIONS}
        for rule in rules(self.spec, args["supernet"]):
            self._rule(rule)
        self._balancer()
        self.names()
        self.machines = {machine.name: self._machine(machine) for machine in self.spec.machines}
        self.break_glass = self.credential("break-glass", break_glass(self.spec))
        self.admin = self.credential("admin", admin(self.spec))
        self.recovery = self._recovery()
        Issuer("issuer", self.issuer_args(), self.child)
        self.register_outputs({})

    def _security_group(self, part: Part) -> aws.ec2.SecurityGroup:
        tags = self.owner.tags(part)
        return aws.ec2.SecurityGroup(
            part,
            name=tags["Name"],
            description=DESCRIPTIONS[part],
            vpc_id=self.args["network_id"],
            tags=tags,
            opts=self.child,
        )

    def _rule(self, rule: Rule) -> None:
        kind = aws.vpc.SecurityGroupIngressRule if rule.direction == "in" else aws.vpc.SecurityGroupEgressRule
        peer = (
            {"referenced_security_group_id": self.groups[rule.peer].id}
            if rule.peer in self.groups
            else {"cidr_ipv4": rule.peer}
        )
        kind(
            rule.name,
            security_group_id=self.groups[rule.part].id,
            ip_protocol="tcp",
            from_port=rule.first,
            to_port=rule.last,
            description=rule.why,
            tags=self.owner.tags(rule.name),
            opts=self.child,
            **peer,
        )

    def _balancer(self) -> None:
        name = fitting(f"{self.spec.fleet}-{self.spec.name}-api", BALANCER_NAME)
        targets = aws.lb.TargetGroup(
            "api",
            name=name,
            port=API_PORT,
            protocol="TCP",
            # By address: machines come and go under it. And never with the client's own address on a packet: an API
            # machine that reaches itself through the balancer would get answers from nowhere (the hairpin trap).
            target_type="ip",
            preserve_client_ip="false",
            vpc_id=self.args["network_id"],
            deregistration_delay=30,
            health_check={
                "protocol": "HTTPS",
                "port": str(API_PORT),
                "path": READY_PATH,
                "matcher": "200",
                "interval": CHECK_SECONDS,
                "healthy_threshold": CHECKS,
                "unhealthy_threshold": CHECKS,
            },
            tags=self.owner.tags("api"),
            opts=self.child,
        )
        balancer = aws.lb.LoadBalancer(
            "api",
            name=name,
            load_balancer_type="network",
            internal=True,
            subnet_mappings=[
                {"subnet_id": self.args["subnet_ids"][zone], "private_ipv4_address": address}
                for zone, address in self.spec.balancer.items()
            ],
            security_groups=[self.groups["balancer"].id],
            enable_cross_zone_load_balancing=True,
            tags=self.owner.tags("api"),
            # Protected here rather than in AWS: `destroy` asks, and needs no `up` before it.
            opts=pulumi.ResourceOptions(parent=self, protect=True),
        )
        aws.lb.Listener(
            "api",
            load_balancer_arn=balancer.arn,
            port=API_PORT,
            protocol="TCP",
            default_actions=[{"type": "forward", "target_group_arn": targets.arn}],
            tags=self.owner.tags("api"),
            opts=self.child,
        )
        for machine in self.spec.api:
            aws.lb.TargetGroupAttachment(
                self.short(machine),
                target_group_arn=targets.arn,
                target_id=machine.address,
                port=API_PORT,
                opts=self.child,
            )

    def _record(self, name: str, host: str, addresses: list[str]) -> None:
        aws.route53.Record(
            name,
            zone_id=self.args["zone_id"],
            name=host,
            type="A",
            ttl=RECORD_SECONDS,
            records=addresses,
            opts=self.child,
        )

    def _machine(self, machine: Machine) -> ControlPlaneMachine:
        machine_args = self.machine_args(self.args, machine, {role: group.id for role, group in self.groups.items()})
        keys = self.args["key_arn"], self.args["copies_key_arn"]
        return ControlPlaneMachine(
            self.short(machine), {**machine_args, "key_arn": keys[0], "copies_key_arn": keys[1]}, self.child
        )

    def _keep(self, name: str, description: str, text: pulumi.Output[str]) -> str:
        place = self.spec.prefix(name)
        self._seal(name, place, description, text, self.child)
        return place

    def _recovery(self) -> pulumi.Output[str]:
        """All keys once more, apart: they stay when the cluster goes, as snapshots and disks do. The secret's name.

        With them stays the replica in the second region, which can be made a secret of its own there.
        """
        place = pulumi.Output.concat(self.spec.prefix("recovery-"), self.authority.life)
        stays = pulumi.ResourceOptions(parent=self, retain_on_delete=True)
        replicas: list[aws.secretsmanager.SecretReplicaArgsDict] | None = None
        if self.spec.copies and self.args["copies_key_arn"] is not None:
            replicas = [{"region": self.spec.copies.region, "kms_key_id": self.args["copies_key_arn"]}]
        self._seal("recovery", place, f"Every key of {self.spec.name}", self.authority.recovery(), stays, replicas)
        return place

    def _seal(
        self,
        name: str,
        place: pulumi.Input[str],
        description: str,
        text: pulumi.Input[str],
        opts: pulumi.ResourceOptions,
        replicas: list[aws.secretsmanager.SecretReplicaArgsDict] | None = None,
    ) -> None:
        secret = aws.secretsmanager.Secret(
            name,
            name=place,
            description=description,
            kms_key_id=self.args["key_arn"],
            # A name that waits for its end would keep a cluster of the same name from coming up.
            recovery_window_in_days=0,
            replicas=replicas,
            tags=self.owner.tags(name),
            opts=pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(protect=True)),
        )
        aws.secretsmanager.SecretVersion(name, secret_id=secret.id, secret_string=text, opts=opts)
