"""One region's instances of AWS, in the pools' scaling groups: asked of EC2."""

from collections.abc import Callable, Collection, Iterable, Iterator
from xml.etree.ElementTree import Element, ParseError

from join_rules import INSTANCE, Instance

MOST_VALUES, PAGE = 200, 1000
GROUP = "aws:autoscaling:groupName"
Ask = Callable[..., Element]


def read(answer: Element) -> Iterator[Instance]:
    """Out of an answer to DescribeInstances."""
    for item in answer.iterfind("{*}reservationSet/{*}item/{*}instancesSet/{*}item"):
        tags = {tag.findtext("{*}key"): tag.findtext("{*}value") for tag in item.iterfind("{*}tagSet/{*}item")}
        yield Instance(
            id=item.findtext("{*}instanceId") or "",
            state=item.findtext("{*}instanceState/{*}name") or "",
            group=tags.get(GROUP) or "",
            address=item.findtext("{*}privateIpAddress") or "",
        )


def describe(ask: Ask, name: str, values: Iterable[str]) -> list[Instance]:
    """All instances that a filter finds. Raises OSError, Refused, ParseError."""
    values = sorted(values)
    found: list[Instance] = []
    for start in range(0, len(values), MOST_VALUES):
        some = {f"Filter__1__Value__{n}": value for n, value in enumerate(values[start : start + MOST_VALUES], 1)}
        token: dict[str, str] = {}
        while True:
            answer = ask("DescribeInstances", MaxResults=str(PAGE), Filter__1__Name=name, **some, **token)
            found += read(answer)
            if not (more := answer.findtext("{*}nextToken")):
                break
            token = {"NextToken": more}
    return found


class Ec2:
    """`groups` are names of scaling groups; `ask` is the region's way to EC2."""

    what = "EC2"
    period_seconds, absent_seconds = 60.0, 5.0

    def __init__(self, groups: Collection[str], ask: Ask) -> None:
        self.groups, self.ask = groups, ask

    def names(self, node: str) -> bool:
        return INSTANCE.fullmatch(node) is not None

    def some(self, nodes: Collection[str]) -> list[Instance]:
        return self._described("instance-id", nodes)

    def all(self) -> list[Instance]:
        return self._described(f"tag:{GROUP}", self.groups)

    def _described(self, name: str, values: Collection[str]) -> list[Instance]:
        try:
            return describe(self.ask, name, values)
        except ParseError as error:
            raise OSError(str(error)) from None
