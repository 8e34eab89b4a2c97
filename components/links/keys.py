"""Pre-shared keys of tunnels."""

import pulumi
import pulumi_random as random

# AWS takes 8 to 64 letters, digits, periods and underscores, the first no 0: `key` puts a letter before these. Azure
# takes them, too.
KEY_LETTERS = 40


def key(name: str, parent: pulumi.Resource) -> pulumi.Output[str]:
    """A pre-shared one that both clouds take."""
    password = random.RandomPassword(
        name, length=KEY_LETTERS, special=False, opts=pulumi.ResourceOptions(parent=parent)
    )
    return pulumi.Output.concat("k", password.result)
