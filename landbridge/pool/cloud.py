"""Which cloud's side of pools a region has."""

from fleet.buckets import in_azure
from landbridge.cluster.session import Session

from .regions import Scaling


def at(session: Session, region: str) -> Scaling:
    if in_azure(session.world.fleet, region):
        from .azure.scaling import AzureScaling

        return AzureScaling(session, region)
    from .aws.scaling import AwsScaling

    return AwsScaling(session, region)
