"""Alarms."""

from ..kinds import ID, TAG_KEYS, TAGS, Arn, Call, Change, Kind, P, Tagging, props, replaces, same_paths

_SETTINGS = (
    "namespace",
    "metricName",
    "statistic",
    "comparisonOperator",
    "threshold",
    "evaluationPeriods",
    "datapointsToAlarm",
    "period",
    "treatMissingData",
    "alarmDescription",
    "actionsEnabled",
)
_ARN = Arn("arn:aws:cloudwatch:{region}:{account}:alarm:{id}")
_PUT = Call(
    "put_metric_alarm",
    {
        **props(*_SETTINGS),
        "AlarmName": P("name"),
        "Dimensions": P("dimensions", convert=lambda of: [{"Name": name, "Value": of[name]} for name in sorted(of)]),
    },
)

ALARM = Kind(
    service="cloudwatch",
    create=_PUT,
    make_id=lambda _, inputs: str(inputs["name"]),
    read=Call("describe_alarms", {"AlarmNames": [ID]}, "MetricAlarms[0]"),
    delete=(Call("delete_alarms", {"AlarmNames": [ID]}),),
    outputs={
        **same_paths(*_SETTINGS),
        "name": "AlarmName",
        "dimensions": lambda found: {one["Name"]: one["Value"] for one in found.answer["Dimensions"]},
        "arn": "AlarmArn",
    },
    replace=replaces("name"),
    changes=(Change((*_SETTINGS, "dimensions"), (_PUT,)),),
    tagging=Tagging(
        add=Call("tag_resource", {"ResourceARN": _ARN, "Tags": TAGS}),
        remove=Call("untag_resource", {"ResourceARN": _ARN, "TagKeys": TAG_KEYS}),
        read=Call("list_tags_for_resource", {"ResourceARN": _ARN}, "Tags"),
    ),
    autoname="name",
)

KINDS = {"aws:cloudwatch/metricAlarm:MetricAlarm": ALARM}
