"""IAM roles and profiles, private zones, log groups: who may, under which name, and what was said."""

from ..kinds import ID, TAG_KEYS, TAGS, TOKEN, Call, Change, Found, Kind, Out, P, Tagging, props, replaces, same_paths

ROLE = Kind(
    service="iam",
    create=Call(
        "create_role",
        {
            "RoleName": P("name"),
            "AssumeRolePolicyDocument": P("assumeRolePolicy"),
            **props("description", "path", "maxSessionDuration", "permissionsBoundary"),
        },
        "Role.RoleName",
    ),
    read=Call("get_role", {"RoleName": ID}, "Role"),
    delete=(Call("delete_role", {"RoleName": ID}),),
    outputs={
        **same_paths("description", "path", "maxSessionDuration"),
        "name": "RoleName",
        "arn": "Arn",
        "uniqueId": "RoleId",
        "assumeRolePolicy": lambda found: _text(found.answer["AssumeRolePolicyDocument"]),
    },
    replace=replaces("name", "path"),
    changes=(
        Change(
            ("assumeRolePolicy",),
            (Call("update_assume_role_policy", {"RoleName": ID, "PolicyDocument": P("assumeRolePolicy")}),),
        ),
        Change(
            ("description", "maxSessionDuration"),
            (Call("update_role", {"RoleName": ID, **props("description", "maxSessionDuration")}),),
        ),
    ),
    tagging=Tagging(
        add=Call("tag_role", {"RoleName": ID, "Tags": TAGS}),
        remove=Call("untag_role", {"RoleName": ID, "TagKeys": TAG_KEYS}),
    ),
    autoname="name",
)


def _text(document: object) -> str:
    import json

    return document if isinstance(document, str) else json.dumps(document)


_PUT = Call("put_role_policy", {"RoleName": P("role"), "PolicyName": P("name"), "PolicyDocument": P("policy")})

ROLE_POLICY = Kind(
    service="iam",
    create=_PUT,
    make_id=lambda _, inputs: f"{inputs['role']}:{inputs['name']}",
    read=Call("get_role_policy", {"RoleName": P("role"), "PolicyName": P("name")}),
    delete=(Call("delete_role_policy", {"RoleName": Out("role"), "PolicyName": Out("name")}),),
    outputs={"role": "RoleName", "name": "PolicyName", "policy": lambda found: _text(found.answer["PolicyDocument"])},
    replace=replaces("role", "name"),
    changes=(Change(("policy",), (_PUT,)),),
    autoname="name",
)

PROFILE = Kind(
    service="iam",
    create=Call(
        "create_instance_profile",
        {"InstanceProfileName": P("name"), "Path": P("path")},
        "InstanceProfile.InstanceProfileName",
    ),
    read=Call("get_instance_profile", {"InstanceProfileName": ID}, "InstanceProfile"),
    delete=(
        Call("remove_role_from_instance_profile", {"InstanceProfileName": ID, "RoleName": Out("role")}, when="role"),
        Call("delete_instance_profile", {"InstanceProfileName": ID}),
    ),
    outputs={"name": "InstanceProfileName", "path": "Path", "arn": "Arn", "role": "Roles[0].RoleName"},
    replace=replaces("name", "path"),
    changes=(
        # A profile holds one role. That of a role which somebody has deleted holds none.
        Change(
            ("role",),
            (
                Call(
                    "remove_role_from_instance_profile",
                    {"InstanceProfileName": ID, "RoleName": Out("role")},
                    when_recorded="role",
                ),
            ),
        ),
        Change(
            ("role",),
            (Call("add_role_to_instance_profile", {"InstanceProfileName": ID, "RoleName": P("role")}),),
            on_create=True,
        ),
    ),
    tagging=Tagging(
        add=Call("tag_instance_profile", {"InstanceProfileName": ID, "Tags": TAGS}),
        remove=Call("untag_instance_profile", {"InstanceProfileName": ID, "TagKeys": TAG_KEYS}),
    ),
    autoname="name",
)


def _zone_networks(found: Found) -> list[dict[str, str]]:
    return [{"vpcId": vpc["VPCId"], "vpcRegion": vpc["VPCRegion"]} for vpc in found.answer["networks"] or []]


ZONE = Kind(
    service="route53",
    create=Call(
        "create_hosted_zone",
        {
            "Name": P("name"),
            "CallerReference": TOKEN,
            "HostedZoneConfig": {
                "Comment": P("comment", "Managed by Pulumi"),
                "PrivateZone": P("vpcs", default=False, convert=bool),
            },
            "VPC": P("vpcs", convert=lambda vpcs: {"VPCId": vpcs[0]["vpcId"], "VPCRegion": vpcs[0].get("vpcRegion")}),
        },
        "HostedZone.Id",
    ),
    make_id=lambda taken, _: str(taken).removeprefix("/hostedzone/"),
    read=Call("get_hosted_zone", {"Id": ID}, "HostedZone"),
    more={
        "networks": Call("get_hosted_zone", {"Id": ID}, "VPCs"),
        "servers": Call("get_hosted_zone", {"Id": ID}, "DelegationSet.NameServers"),
    },
    delete=(Call("delete_hosted_zone", {"Id": ID}),),
    outputs={
        "name": lambda found: found.answer["Name"].removesuffix("."),
        "comment": "Config.Comment",
        "vpcs": _zone_networks,
        "zoneId": lambda found: found.id,
        "nameServers": "servers",
        "arn": lambda found: f"arn:aws:route53:::hostedzone/{found.id}",
    },
    replace=replaces("name", "vpcs"),
    changes=(Change(("comment",), (Call("update_hosted_zone_comment", {"Id": ID, "Comment": P("comment")}),)),),
    tagging=Tagging(
        add=Call("change_tags_for_resource", {"ResourceType": "hostedzone", "ResourceId": ID, "AddTags": TAGS}),
        remove=Call(
            "change_tags_for_resource", {"ResourceType": "hostedzone", "ResourceId": ID, "RemoveTagKeys": TAG_KEYS}
        ),
        read=Call("list_tags_for_resource", {"ResourceType": "hostedzone", "ResourceId": ID}, "ResourceTagSet.Tags"),
    ),
    accepts=("forceDestroy",),
    missing=("NoSuchHostedZone",),
)

_RETENTION = Call(
    "put_retention_policy", {"logGroupName": P("name"), "retentionInDays": P("retentionInDays")}, when="retentionInDays"
)

LOG_GROUP = Kind(
    service="logs",
    create=Call("create_log_group", {"logGroupName": P("name"), "kmsKeyId": P("kmsKeyId")}),
    make_id=lambda _, inputs: str(inputs["name"]),
    read=Call("describe_log_groups", {"logGroupNamePrefix": ID}, "logGroups[?logGroupName=='$id'] | [0]"),
    delete=(Call("delete_log_group", {"logGroupName": ID}),),
    outputs={
        "name": "logGroupName",
        "arn": lambda found: f"arn:aws:logs:{found.region}:{found.account}:log-group:{found.id}",
        "retentionInDays": "retentionInDays",
        "kmsKeyId": "kmsKeyId",
    },
    replace=replaces("name", "kmsKeyId"),
    changes=(Change(("retentionInDays",), (_RETENTION,), on_create=True),),
    tagging=Tagging(
        add=Call("tag_log_group", {"logGroupName": ID, "tags": TAGS}),
        remove=Call("untag_log_group", {"logGroupName": ID, "tags": TAG_KEYS}),
        read=Call("list_tags_log_group", {"logGroupName": ID}, "tags"),
        as_map=True,
    ),
    autoname="name",
)

KINDS = {
    "aws:iam/role:Role": ROLE,
    "aws:iam/rolePolicy:RolePolicy": ROLE_POLICY,
    "aws:iam/instanceProfile:InstanceProfile": PROFILE,
    "aws:route53/zone:Zone": ZONE,
    "aws:cloudwatch/logGroup:LogGroup": LOG_GROUP,
}
