"""Images of the local AWS that local machines can start from; every region has them under the same ids.

One for each version of Kubernetes, as on real clouds.
"""

from local.kubernetes import BUILT_IN, VERSIONS

PREFIX = "landbridge-"


def cpu(version: str) -> str:
    """The name of the image with a version of Kubernetes."""
    return f"{PREFIX}local-cpu-{version}"


# Name → id.
STAND_INS = {
    cpu(BUILT_IN): "ami-0c00000000000c001",
    f"{PREFIX}local-gpu": "ami-0c00000000000c002",
    **{cpu(version): f"ami-0c0000000000{number:05x}" for number, version in enumerate(VERSIONS[1:], 0xC003)},
}


def kubernetes(name: str) -> str:
    """The version in the image of a name; what was made of an image of ours has that of set-up."""
    return next((version for version in VERSIONS if name == cpu(version)), BUILT_IN)
