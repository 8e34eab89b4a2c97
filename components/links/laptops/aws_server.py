"""One server for laptops on AWS: its addresses, its role, its bundle, and the group that keeps it alive."""

import base64
import json
from typing import Any, TypedDict

import pulumi
import pulumi_aws as aws

from components.boot import hosts, people
from components.boot.hosts import HostAuthority
from components.boot.user_data import sealed, user_data
from components.control_plane.bundle import Bundle, digests, manifest, version
from components.control_plane.roles import SSM_POLICY, trust
from components.pools.hardware import ROOT_GIB
from components.pools.spec import LAPTOPS
from components.preview import VERIFY_KEY, known_in_preview, known_key_arn
from components.tags import KUBERNETES, Owner
from fleet.image_names import parameter
from fleet.model import Fleet

from .aws_authority import LaptopsAuthority
from .machine import bundle
from .nodes import GROUP, INSTANCE_TYPE, ROLE
from .roles import permissions
from .spec import LaptopsSpec, Server


class LaptopServerArgs(TypedDict):
    """`subnet_id` is a public subnet's of the server's zone, `group_id` the security group of all servers.

    `cluster_authority` is PEM: whom the server trusts as a node.
    `people_authority` is the public line of what signs people's certificates; empty where keys let them in.
    `hosts` vouches for the server to people's clients, where certificates let them in.
    """

    fleet: Fleet
    spec: LaptopsSpec
    server: Server
    owner: Owner
    authority: LaptopsAuthority
    subnet_id: pulumi.Input[str]
    group_id: pulumi.Input[str]
    key_arn: pulumi.Input[str]
    cluster_authority: pulumi.Input[str]
    people_authority: pulumi.Input[str]
    hosts: HostAuthority | None


class LaptopServer(pulumi.ComponentResource):
    """A scaling group of one, whose machines take over interface, public address and bundle from the one before.

    `interface` is where routes to its laptops lead; `address` the public one, which people's profiles hold.
    """

    def __init__(self, name: str, args: LaptopServerArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("landbridge:links:LaptopServer", name, None, opts)
        self.name, self.args, self.spec, self.server = name, args, args["spec"], args["server"]
        self.prefix = self.spec.prefix(self.server.name)
        self.child = pulumi.ResourceOptions(parent=self)
        self.interface = aws.ec2.NetworkInterface(
            name,
            subnet_id=args["subnet_id"],
            security_groups=[args["group_id"]],
            # What it forwards is of its laptops' addresses, not of its own.
            source_dest_check=False,
            description=f"Laptops come in at {self.server.host}",
            tags=self._tags(name),
            opts=self.child,
        )
        # It outlives machines: every profile that was given out names it.
        public = aws.ec2.Eip(name, domain="vpc", tags=self._tags(name), opts=self.child)
        self.address: pulumi.Output[str] = public.public_ip
        reachable = aws.ec2.EipAssociation(
            name, allocation_id=public.id, network_interface_id=self.interface.id, opts=self.child
        )
        granted, profile = self._role()
        template = self._template(profile)
        self.group = self._group(template, [reachable, *granted, self._publish()])
        self.register_outputs({})

    def _tags(self, name: str) -> dict[str, str]:
        return {**self.args["owner"].tags(name), "landbridge:machine": self.spec.machine(self.server)}

    def _role(self) -> tuple[list[pulumi.Resource], aws.iam.InstanceProfile]:
        fleet, name, owner = self.args["fleet"], self.name, self.args["owner"]
        assert fleet.aws is not None
        role = aws.iam.Role(
            name,
            name=owner.name(name, ROLE),
            assume_role_policy=json.dumps(trust()),
            description=f"What {self.spec.machine(self.server)} may do",
            tags=self._tags(name),
            opts=self.child,
        )
        policy = aws.iam.RolePolicy(
            name,
            role=role.name,
            name="machine",
            policy=known_key_arn(self.args["key_arn"], self.spec.region, fleet.aws.account_id).apply(
                lambda arn: json.dumps(permissions(fleet, self.spec, self.server, arn))
            ),
            opts=self.child,
        )
        granted: list[pulumi.Resource] = [policy]
        if fleet.access == "ssm":
            granted.append(aws.iam.RolePolicyAttachment(name, role=role.name, policy_arn=SSM_POLICY, opts=self.child))
        profile = aws.iam.InstanceProfile(
            name, name=owner.name(name, 128), role=role.name, tags=self._tags(name), opts=self.child
        )
        return granted, profile

    def _publish(self) -> aws.s3.BucketObjectv2:
        """Puts files into the bucket and keys into the secret, and last the signed manifest that names both."""
        authority, name = self.args["authority"], self.spec.machine(self.server)
        open_, whole = authority.material(self.server, self.args["cluster_authority"], self)
        # Made without private keys, so that no mistake can put one into the bucket.
        shown = hosts.shown(self.args["hosts"], self.name, (self.server.host,), self)
        given = pulumi.Output.all(self.args["people_authority"], shown.certificate)
        vouched = given.apply(lambda both: self._vouched(*both))
        files: pulumi.Output[dict[str, str]] = open_.apply(
            lambda material: vouched.apply(lambda spec: bundle(spec, self.server, material).files)
        )
        keys: pulumi.Output[dict[str, str]] = whole.apply(
            lambda material: shown.keys.apply(lambda more: bundle(self.spec, self.server, material).keys | more)
        )
        told = pulumi.Output.all(files=files, keys=keys).apply(
            lambda made: digests(Bundle(name, made["files"], made["keys"]))
        )
        open_told = pulumi.Output.unsecret(told)
        secret = aws.secretsmanager.Secret(
            self.name,
            name=self.prefix,
            description=f"Key material of {name}",
            kms_key_id=self.args["key_arn"],
            # Made anew by every `up`; a name that waits for its end would keep the next one from coming up.
            recovery_window_in_days=0,
            tags=self._tags(self.name),
            opts=self.child,
        )
        current = aws.secretsmanager.SecretVersion(
            self.name, secret_id=secret.id, secret_string=keys.apply(json.dumps), opts=self.child
        )
        body = self._object("files", open_told.apply(lambda t: f"{version(t)}.json"), files.apply(json.dumps))
        text = pulumi.Output.all(open_told, current.version_id).apply(lambda both: manifest(self.prefix, *both))
        signed = pulumi.Output.all(authority.signing, text).apply(lambda both: sealed(*both))
        opts = pulumi.ResourceOptions(parent=self, depends_on=[body])
        return self._object("manifest", "manifest.json", pulumi.Output.unsecret(signed), opts)

    def _vouched(self, line: str, shown: str) -> LaptopsSpec:
        vouching = people.authority(self.args["fleet"], self.spec.region, line)
        return self.spec._replace(vouching=vouching, shown=shown)

    def _object(
        self, what: str, key: pulumi.Input[str], content: pulumi.Input[str], opts: pulumi.ResourceOptions | None = None
    ) -> aws.s3.BucketObjectv2:
        name = f"{self.name}-{what}"
        return aws.s3.BucketObjectv2(
            name,
            bucket=self.spec.bucket,
            key=pulumi.Output.concat(self.prefix, "/", key),
            content=content,
            content_type="application/json",
            server_side_encryption="aws:kms",
            kms_key_id=self.args["key_arn"],
            tags=self.args["owner"].tags(name),
            opts=opts or self.child,
        )

    def _template(self, profile: aws.iam.InstanceProfile) -> aws.ec2.LaunchTemplate:
        tags = self._tags(self.name)
        verify_key = known_in_preview(self.args["authority"].verify_key, VERIFY_KEY)
        script = verify_key.apply(lambda key: user_data(self.spec.region, self.spec.bucket, self.prefix, key))
        return aws.ec2.LaunchTemplate(
            self.name,
            name=self.args["owner"].name(self.name, 128),
            # Looked up at each launch: a promoted image comes with the next machine.
            image_id=f"resolve:ssm:{parameter(self.spec.fleet, self.spec.node.kubernetes)}",
            instance_type=INSTANCE_TYPE,
            iam_instance_profile={"name": profile.name},
            metadata_options={"http_endpoint": "enabled", "http_tokens": "required", "http_put_response_hop_limit": 1},
            network_interfaces=[
                {"device_index": 0, "network_interface_id": self.interface.id, "delete_on_termination": "false"}
            ],
            # With the account's own key for disks: Auto Scaling's role may not use the region's.
            block_device_mappings=[
                {
                    "device_name": "/dev/sda1",
                    "ebs": {
                        "encrypted": "true",
                        "volume_size": ROOT_GIB[LAPTOPS],
                        "volume_type": "gp3",
                        "delete_on_termination": "true",
                    },
                }
            ],
            user_data=script.apply(lambda text: base64.b64encode(text.encode()).decode()),
            tag_specifications=[
                {"resource_type": "instance", "tags": {**tags, KUBERNETES: self.spec.node.kubernetes}},
                {"resource_type": "volume", "tags": tags},
            ],
            update_default_version=True,
            tags=tags,
            opts=self.child,
        )

    def _group(self, template: aws.ec2.LaunchTemplate, ready: list[pulumi.Resource]) -> aws.autoscaling.Group:
        tags: list[Any] = [
            {"key": key, "value": value, "propagate_at_launch": False} for key, value in self._tags(self.name).items()
        ]
        return aws.autoscaling.Group(
            self.name,
            name=self.args["owner"].name(self.name, GROUP),
            min_size=1,
            max_size=1,
            desired_capacity=1,
            # Not by subnet: the template names an interface, and Auto Scaling takes but one of the two.
            availability_zones=[f"{self.spec.region}{self.server.zone}"],
            # Never a number: then the group would change with the template.
            launch_template={"id": template.id, "version": "$Latest"},
            health_check_type="EC2",
            wait_for_capacity_timeout="0",
            tags=tags,
            opts=pulumi.ResourceOptions(parent=self, depends_on=ready),
        )
