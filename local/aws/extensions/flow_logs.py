"""Flow logs to a folder of a bucket: arn:aws:s3:::bucket/folder/ (EC2 user guide, "Publish flow logs to Amazon S3").

moto looks for a bucket by that whole name.
"""

from typing import Any

from moto.ec2.models import EC2Backend

from .patching import override


def install() -> None:
    @override(EC2Backend, "create_flow_logs")
    def create_flow_logs(self: Any, original: Any, **given: Any) -> Any:  # noqa: ARG001
        destination = given["log_destination"]
        if given["log_destination_type"] != "s3" or not destination:
            return original(**given)
        made, failed = original(**{**given, "log_destination": destination.partition("/")[0]})
        for flow_log in made:
            flow_log.log_destination = destination
        return made, failed
