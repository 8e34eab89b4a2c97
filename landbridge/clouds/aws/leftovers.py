"""What of a cluster in AWS outlives it: etcd's volumes."""

import datetime
from typing import Any

from ..leftovers import CLUSTER, DISK, FLEET, MACHINE, RETAINED
from .lookups import ClientOf


def settle(of: ClientOf, fleet: str, cluster: str, *, delete: bool, today: datetime.date) -> list[str]:
    """Sets the volumes of a cluster that is gone aside, or deletes them; what was done, for people."""
    ec2 = of("ec2")
    filters = [
        {"Name": f"tag:{FLEET}", "Values": [fleet]},
        {"Name": f"tag:{CLUSTER}", "Values": [cluster]},
        {"Name": "tag-key", "Values": [DISK]},
    ]
    found = ec2.describe_volumes(Filters=filters)["Volumes"]
    done = []
    for volume in sorted(found, key=_name):
        id_ = volume["VolumeId"]
        done.append(f"{id_} ({_name(volume)})")
        if delete:
            ec2.delete_volume(VolumeId=id_)
            continue
        # In this order: a volume that has lost the one and not got the other would be nobody's.
        ec2.create_tags(Resources=[id_], Tags=[{"Key": RETAINED, "Value": f"{_tags(volume)[DISK]} {today}"}])
        ec2.delete_tags(Resources=[id_], Tags=[{"Key": DISK}])
    return [f"{'deleted' if delete else 'kept, with its data'}: {one}" for one in done]


def _tags(volume: Any) -> dict[str, str]:
    return {tag["Key"]: tag["Value"] for tag in volume.get("Tags", ())}


def _name(volume: Any) -> str:
    tags = _tags(volume)
    return f"{tags.get(MACHINE)} {tags.get(DISK)}"
