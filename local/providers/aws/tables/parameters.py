"""Parameters of Systems Manager. Pulumi keeps their value as a secret, whatever its type."""

from ..kinds import ID, TAG_KEYS, TAGS, Call, Change, Found, Kind, P, Tagging, props, replaces, same_paths

_PARAMS = {**props("name", "type", "value", "description", "keyId", "tier", "allowedPattern", "dataType")}


def _arn(found: Found) -> str:
    return f"arn:aws:ssm:{found.region}:{found.account}:parameter/{found.id.removeprefix('/')}"


PARAMETER = Kind(
    service="ssm",
    create=Call("put_parameter", {**_PARAMS, "Overwrite": P("overwrite", default=False)}),
    make_id=lambda _, inputs: str(inputs["name"]),
    read=Call("get_parameter", {"Name": ID, "WithDecryption": True}, "Parameter"),
    more={
        "described": Call(
            "describe_parameters",
            {"ParameterFilters": [{"Key": "Name", "Option": "Equals", "Values": [ID]}]},
            "Parameters[0]",
        )
    },
    delete=(Call("delete_parameter", {"Name": ID}),),
    outputs={
        **same_paths("name", "type", "value", "version", "dataType"),
        **{name: f"described.{name[0].upper()}{name[1:]}" for name in ("description", "keyId", "tier")},
        "allowedPattern": "described.AllowedPattern",
        "arn": _arn,
    },
    replace=replaces("name", "type", "dataType"),
    changes=(
        Change(
            ("value", "description", "keyId", "tier", "allowedPattern"),
            (Call("put_parameter", {**_PARAMS, "Overwrite": True}),),
        ),
    ),
    tagging=Tagging(
        add=Call("add_tags_to_resource", {"ResourceType": "Parameter", "ResourceId": ID, "Tags": TAGS}),
        remove=Call("remove_tags_from_resource", {"ResourceType": "Parameter", "ResourceId": ID, "TagKeys": TAG_KEYS}),
        read=Call("list_tags_for_resource", {"ResourceType": "Parameter", "ResourceId": ID}, "TagList"),
    ),
    autoname="name",
    accepts=("overwrite",),
    missing=("ParameterNotFound", "InvalidResourceId"),
)

KINDS = {"aws:ssm/parameter:Parameter": PARAMETER}
