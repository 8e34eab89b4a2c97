"""What all of EC2's entries share."""

from ..kinds import ID, TAGS, Call, Tagging

TAGGING = Tagging(
    add=Call("create_tags", {"Resources": [ID], "Tags": TAGS}),
    remove=Call("delete_tags", {"Resources": [ID], "Tags": TAGS}),
)
