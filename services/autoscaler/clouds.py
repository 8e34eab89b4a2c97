"""Which cloud a region is in, and so who asks it."""

from .cloud import Cloud
from .settings import Settings


def cloud(settings: Settings, region: str) -> Cloud:
    """Each is loaded where it is wanted: a cloud's SDK takes as much memory as all else here."""
    if settings.region_clouds[region] == "azure":
        from .azure.cloud import Azure

        return Azure.connected(settings, region)
    from .aws.cloud import Aws

    return Aws(region, settings.cluster)
