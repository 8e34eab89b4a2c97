"""Where a region says which image its machines start from: parameters of the cloud, a channel each.

An image holds the programs of one Kubernetes version, so a cluster's version chooses it. Promotion puts an image's id
into a channel; machines start from `stable`.
"""

from typing import Literal

# The variants of images (images/recipe.yaml).
ImageKind = Literal["cpu", "gpu", "gateway", "laptop"]
CANDIDATE, STABLE, RETIRED = "candidate", "stable", "retired"
# In the order that an image goes through them.
CHANNELS = (CANDIDATE, STABLE, RETIRED)


def parameter(fleet: str, kubernetes: str, channel: str = STABLE, kind: ImageKind = "cpu") -> str:
    """`kind` is gpu for machines with GPUs: their image has drivers, too."""
    return f"/{fleet}/images/{kind}/{kubernetes}/{channel}"
