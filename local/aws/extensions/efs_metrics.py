"""What file systems hold, as CloudWatch has it: the metric StorageBytes ("Amazon CloudWatch metrics for Amazon EFS").

POST /landbridge-api/files {"fs-…": 1000}: bytes; what is not named holds nothing.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from moto.cloudwatch.models import CloudWatchBackend, MetricDatum
from moto.core.utils import utcnow
from moto.efs.models import efs_backends

from .patching import override

# AWS tells it each fifteen minutes.
LATE = timedelta(minutes=15)
_held: dict[str, int] = {}


def install() -> None:
    @override(CloudWatchBackend, "get_all_metrics")
    def get_all_metrics(self: Any, original: Any) -> Any:
        there = efs_backends[self.account_id][self.region_name].file_systems_by_id
        return [*original(), *(_datum(id_) for id_ in there)]


def put(held: Mapping[str, int]) -> dict[str, int]:
    """Replaces all. Raises TypeError or ValueError for anything else."""
    found = {id_: int(holds) for id_, holds in held.items()}
    _held.clear()
    _held.update(found)
    return _held


def _datum(id_: str) -> MetricDatum:
    of = [{"Name": "FileSystemId", "Value": id_}, {"Name": "StorageClass", "Value": "Total"}]
    return MetricDatum("AWS/EFS", "StorageBytes", float(_held.get(id_, 0)), of, utcnow() - LATE)
