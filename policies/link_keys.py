"""Keys of tunnels, whichever cloud ends them: made by the stack, and in no plain text anywhere."""

from collections.abc import Iterator

from fleet.world import World

from .aws.links import CONNECTION as AWS_CONNECTION
from .aws.links import TUNNELS
from .azure.links import CONNECTION as AZURE_CONNECTION
from .reading import UNKNOWN, Finding, Item, finding, of_types

KEYS = "Make it with random.RandomPassword and keep it in the cloud's secrets store"
# Where a tunnel's key may stand: secrets of the state, all of them.
MAKER = "random:index/randomPassword:RandomPassword"
ALLOWED_TYPES = (
    *(AWS_CONNECTION, AZURE_CONNECTION, MAKER),
    *("aws:secretsmanager/secretVersion:SecretVersion", "azure-native:keyvault:Secret"),
)
HOLDERS = (
    (AWS_CONNECTION, [f"tunnel{number}PresharedKey" for number in TUNNELS], "AWS"),
    (AZURE_CONNECTION, ["sharedKey"], "Azure"),
)


def findings(found: list[Item], world: World) -> Iterator[Finding]:  # noqa: ARG001
    """A key that the preview can't know comes from what makes it; a known one must be one that was made so."""
    made = {str(item.props.get("result")) for item in of_types(found, [MAKER])} - {"None"}
    keys: dict[str, str] = {}
    for item, path, cloud in (
        (item, path, cloud) for type_, paths, cloud in HOLDERS for item in of_types(found, [type_]) for path in paths
    ):
        key = item.props.get(path)
        if not key:
            yield finding(item, path, f"{path} is left to {cloud}, and another one at the next connection", KEYS)
        elif key is not UNKNOWN:
            keys[str(key)] = f"{path} of {item.name}"
            if not any(one in str(key) for one in made):
                yield finding(item, path, f"{path} is none that a RandomPassword of the stack has made", KEYS)
    for item in (one for one in found if one.type not in ALLOWED_TYPES):
        text = repr(item.props)
        for key, whose in keys.items():
            if key in text:
                yield finding(item, "", f"it holds the key {whose}, where everybody can read it", KEYS)
