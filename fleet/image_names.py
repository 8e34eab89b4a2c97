"""Where a region says which image its machines start from: parameters of the cloud, a channel each.

An image holds the programs of one Kubernetes version, so a cluster's version chooses it. Promotion puts an image's id
into a channel; machines start from `stable`, and those of a pool from the one that it names.
"""

from typing import Literal

from .model import Fleet

# The variants of images (images/recipe.yaml).
ImageVariant = Literal["cpu", "gpu", "gateway", "laptop"]
CANDIDATE, STABLE, RETIRED = "candidate", "stable", "retired"
# In the order that an image goes through them.
CHANNELS = (CANDIDATE, STABLE, RETIRED)
# Before a parameter's name in the place of an image's id: EC2 and Auto Scaling look it up at each launch.
RESOLVE = "resolve:ssm:"
# The container of our own services, and its tag: part of machines' images, and in no registry.
SERVICES = "localhost/landbridge-services", "0.1.0"


def parameter(fleet: str, kubernetes: str, channel: str = STABLE, variant: ImageVariant = "cpu") -> str:
    """`variant` is gpu for machines with GPUs: their image has drivers, too."""
    return f"/{fleet}/images/{variant}/{kubernetes}/{channel}"


def of_pool(fleet: Fleet, name: str) -> str:
    """Of a pool in a region: the parameter of its own channel."""
    pool = fleet.pools[name]
    kubernetes = fleet.clusters[pool.cluster].kubernetes
    return parameter(fleet.fleet, kubernetes, pool.channel, "gpu" if pool.gpus else "cpu")
