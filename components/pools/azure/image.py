"""The image that a pool's next machine will start from, in the fleet's gallery."""

import pulumi

from components.boot.azure.image import Wanted, version
from fleet.image_names import ImageVariant
from fleet.model import Fleet

from ..spec import PoolSpec


async def image(fleet: Fleet, spec: PoolSpec, provider: pulumi.ProviderResource) -> str:
    """The id that a scale set's `imageReference` names. Raises pulumi.RunError where there is none that fits."""
    pool, gpus = fleet.pools[spec.name], spec.hardware.gpus
    assert pool.region is not None  # a site's pool starts from what its host has
    variant: ImageVariant = "gpu" if pool.gpus else "cpu"
    wanted = Wanted(f"pool {spec.name}", pool.region, spec.kubernetes, variant, pool.channel, gpus)
    return await version(fleet, wanted, provider)
