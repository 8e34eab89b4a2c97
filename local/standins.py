"""Images that local machines can start from; every region of the local AWS has them under the same ids.

One for each version of Kubernetes, as on real clouds.
"""

import hashlib

from local.kubernetes import BUILT_IN, VERSIONS

PREFIX = "landbridge-"
VARIANTS = ("cpu", "gpu", "laptop")
PLAYED_DRIVER = "played"


def image(variant: str, version: str) -> str:
    """The name of the image of a variant with a version of Kubernetes."""
    return f"{PREFIX}local-{variant}-{version}"


def cpu(version: str) -> str:
    return image("cpu", version)


# Name → id.
STAND_INS = {
    image(variant, version): f"ami-0c0000000000{number:05x}"
    for number, (version, variant) in enumerate(((v, k) for v in VERSIONS for k in VARIANTS), 0xC001)
}


def digest(variant: str, version: str) -> str:
    """In the place of a bake's."""
    return hashlib.sha256(image(variant, version).encode()).hexdigest()


def driver(name: str) -> str:
    """What a bake with a driver would say of its own; empty for images without. Local machines play their GPUs."""
    return PLAYED_DRIVER if name.startswith(f"{PREFIX}local-gpu-") else ""


def kubernetes(name: str) -> str:
    """The version in the image of a name; what was made of an image of ours has that of set-up."""
    return next((v for v in VERSIONS if name in [image(variant, v) for variant in VARIANTS]), BUILT_IN)
