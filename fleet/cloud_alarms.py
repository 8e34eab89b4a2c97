"""Alarms of the clouds themselves, which reach people where no cluster does: what is called how, known before it is."""

from collections.abc import Iterator

from .azure.ids import subscription
from .buckets import in_azure, resource_group
from .fitting import fitting
from .model import Fleet

Wrong = tuple[tuple[str | int, ...], str, str]
# Azure's bound of what stands before a mail's subject.
SHORT = 12
GROUP = "Microsoft.Insights/actionGroups"


def wrong(fleet: Fleet) -> Iterator[Wrong]:
    """Every problem with its entry. To mail an address in capitals is the same one."""
    seen = set[str]()
    for n, address in enumerate(fleet.cloud_alarms):
        if address.lower() in seen:
            yield ("cloud_alarms", n), f"cloud_alarms has {address} twice", "Leave one of the two out"
        seen.add(address.lower())


def told(fleet: Fleet, region: str) -> list[str]:
    """What a region's alarms tell, as its cloud takes it; empty where nobody is to be told."""
    if not fleet.cloud_alarms:
        return []
    return [group_id(fleet, region) if in_azure(fleet, region) else topic_arn(fleet, region)]


def called(fleet: Fleet) -> str:
    """The topic in each region of AWS, and the action group in each of Azure."""
    return f"{fleet.fleet}-alarms"


def short(fleet: Fleet) -> str:
    """The action group, for mails."""
    return fitting(fleet.fleet, SHORT)


def topic_arn(fleet: Fleet, region: str) -> str:
    assert fleet.aws is not None
    return f"arn:aws:sns:{region}:{fleet.aws.account_id}:{called(fleet)}"


def alarm_arns(fleet: Fleet, region: str) -> str:
    """All alarms of the fleet, whose names begin with its own."""
    assert fleet.aws is not None
    return f"arn:aws:cloudwatch:{region}:{fleet.aws.account_id}:alarm:{fleet.fleet}-*"


def group_id(fleet: Fleet, region: str) -> str:
    return f"{subscription(fleet)}/resourceGroups/{resource_group(fleet, region)}/providers/{GROUP}/{called(fleet)}"
