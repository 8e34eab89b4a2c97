"""What a pool's machines are told at birth, in the form in which every cloud takes it."""

import base64

from components.boot import user_data as of_boot

from .spec import PoolSpec


def script(spec: PoolSpec, bucket: str, verify_key: str, vault: str | None = None, life: str = "") -> str:
    """User-data in base64: the boot stub. `vault` is the region's in Azure, where this is called custom data, and the
    name of the pool's secret there, if any, ends in its `life`.
    """
    text = of_boot.user_data(spec.place, bucket, spec.prefix, verify_key, vault, life)
    return base64.b64encode(text.encode()).decode()
