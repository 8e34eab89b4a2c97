"""Policies of their own, who has them, and identity providers."""

from ..kinds import ID, TAG_KEYS, TAGS, Call, Change, Kind, Out, P, Tagging, props, replaces, same_paths
from .identity import _text

POLICY = Kind(
    service="iam",
    create=Call(
        "create_policy",
        {"PolicyName": P("name"), "PolicyDocument": P("policy"), **props("description", "path")},
        "Policy.Arn",
    ),
    read=Call("get_policy", {"PolicyArn": ID}, "Policy"),
    more={
        # ListPolicyVersions does not return documents; this call does, and needs no version's name.
        "document": Call(
            "get_account_authorization_details",
            {"Filter": ["LocalManagedPolicy"], "MaxItems": 1000},
            "Policies[?Arn=='$id'].PolicyVersionList[] | [?IsDefaultVersion].Document | [0]",
        )
    },
    delete=(Call("delete_policy", {"PolicyArn": ID}),),
    outputs={
        **same_paths("description", "path", "policyId", "attachmentCount"),
        "name": "PolicyName",
        "arn": "Arn",
        "policy": lambda found: _text(found.answer["document"]),
    },
    replace=replaces("name", "path", "description"),
    changes=(
        Change(
            ("policy",),
            (Call("create_policy_version", {"PolicyArn": ID, "PolicyDocument": P("policy"), "SetAsDefault": True}),),
        ),
    ),
    tagging=Tagging(
        add=Call("tag_policy", {"PolicyArn": ID, "Tags": TAGS}),
        remove=Call("untag_policy", {"PolicyArn": ID, "TagKeys": TAG_KEYS}),
        read=Call("list_policy_tags", {"PolicyArn": ID}, "Tags"),
    ),
    autoname="name",
    missing=("NoSuchEntity",),
)

ATTACHMENT = Kind(
    service="iam",
    create=Call("attach_role_policy", {"RoleName": P("role"), "PolicyArn": P("policyArn")}),
    make_id=lambda _, inputs: f"{inputs['role']}/{inputs['policyArn']}",
    read=Call(
        "list_attached_role_policies",
        {"RoleName": P("role")},
        "AttachedPolicies[?PolicyArn=='$policyArn'] | [0]",
    ),
    delete=(Call("detach_role_policy", {"RoleName": Out("role"), "PolicyArn": Out("policyArn")}),),
    outputs={"role": lambda found: found.inputs["role"], "policyArn": "PolicyArn"},
    replace=replaces("role", "policyArn"),
)

PROVIDER = Kind(
    service="iam",
    create=Call(
        "create_open_id_connect_provider",
        {"Url": P("url"), "ClientIDList": P("clientIdLists"), "ThumbprintList": P("thumbprintLists", [])},
        "OpenIDConnectProviderArn",
    ),
    read=Call("get_open_id_connect_provider", {"OpenIDConnectProviderArn": ID}),
    delete=(Call("delete_open_id_connect_provider", {"OpenIDConnectProviderArn": ID}),),
    # Its URL never changes; IAM tells it without the scheme, which would look like a difference.
    outputs={"arn": lambda found: found.id, "clientIdLists": "ClientIDList", "thumbprintLists": "ThumbprintList"},
    replace=replaces("url", "clientIdLists"),
    delete_first=True,  # an account has one for a URL
    changes=(
        Change(
            ("thumbprintLists",),
            (
                Call(
                    "update_open_id_connect_provider_thumbprint",
                    {"OpenIDConnectProviderArn": ID, "ThumbprintList": P("thumbprintLists", [])},
                ),
            ),
        ),
    ),
    tagging=Tagging(
        add=Call("tag_open_id_connect_provider", {"OpenIDConnectProviderArn": ID, "Tags": TAGS}),
        remove=Call("untag_open_id_connect_provider", {"OpenIDConnectProviderArn": ID, "TagKeys": TAG_KEYS}),
    ),
    missing=("NoSuchEntity",),
)

KINDS = {
    "aws:iam/policy:Policy": POLICY,
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment": ATTACHMENT,
    "aws:iam/openIdConnectProvider:OpenIdConnectProvider": PROVIDER,
}
