"""What all of EC2's entries share."""

from dataclasses import replace

from ..kinds import ID, TAGS, Call, Tagging

TAGGING = Tagging(
    add=Call("create_tags", {"Resources": [ID], "Tags": TAGS}),
    remove=Call("delete_tags", {"Resources": [ID], "Tags": TAGS}),
)

# For descriptions that moto leaves tags out of.
TAGGING_APART = replace(
    TAGGING, read=Call("describe_tags", {"Filters": [{"Name": "resource-id", "Values": [ID]}]}, "Tags")
)
