"""What a program asks of the engine is written down as it asks; what can't be told counts as unknown."""

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from google.protobuf.struct_pb2 import Struct
from pulumi.runtime.proto import provider_pb2, resource_pb2

from fleet import witness
from stacks import engine_calls

URN = "urn:pulumi:one::landbridge::pulumi:providers:aws::us-west-2"
AMI = "aws:ec2/getAmi:getAmi"


@pytest.fixture
def lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """What has been noted so far."""
    file = (tmp_path / "witness").open("ab")
    monkeypatch.setattr(witness, "here", witness.Witness(file.fileno()))
    with file:
        yield lambda: [json.loads(line) for line in (tmp_path / "witness").read_text().splitlines()]


def engine(monkeypatch: pytest.MonkeyPatch, answer: Any) -> Any:
    """One that answers everything so, after `begin`."""

    def answers(*_: Any) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    made = SimpleNamespace(Invoke=answers, ReadResource=answers, Call=answers)
    monkeypatch.setattr(engine_calls.witness, "begin", lambda: None)
    monkeypatch.setattr(engine_calls.settings, "get_monitor", lambda: made)
    engine_calls.begin()
    return made


def struct(**fields: Any) -> Struct:
    made = Struct()
    made.update(fields)
    return made


def lookup(tok: str = AMI) -> resource_pb2.ResourceInvokeRequest:
    return resource_pb2.ResourceInvokeRequest(tok=tok, args=struct(owner="self"), provider=f"{URN}::0b5e")


def test_a_lookup_is_noted_with_what_makes_it_again_and_its_answer_s_digest(
    lines: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for id_ in ("ami-1", "ami-2"):
        engine(monkeypatch, provider_pb2.InvokeResponse(**{"return": struct(id=id_)})).Invoke(lookup())
        witness.here.recorded.clear()  # type: ignore[union-attr]
    one, other = lines()
    assert one[:2] == ["lookup", {"tok": AMI, "args": {"owner": "self"}, "provider": URN}] == other[:2]
    assert one[2] != other[2]


def test_the_right_to_ask_is_new_each_time_and_is_not_noted(lines: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (token,) = engine_calls.CREDENTIALS
    engine(monkeypatch, provider_pb2.InvokeResponse(**{"return": struct(token="x")})).Invoke(lookup(token))
    assert lines() == []


def test_another_stack_s_outputs_are_noted_by_its_name(lines: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    request = resource_pb2.ReadResourceRequest(
        type=engine_calls.STACK, name="x", properties=struct(name="o/landbridge/main")
    )
    engine(monkeypatch, resource_pb2.ReadResourceResponse()).ReadResource(request)
    assert lines() == [["reference", "o/landbridge/main", ""]]


REFUSED = provider_pb2.InvokeResponse(failures=[provider_pb2.CheckFailure(reason="no")])
OTHERS = {
    "a refusal": ("Invoke", lookup(), REFUSED, f"an error of {AMI}"),
    "an error": ("Invoke", lookup(), OSError("gone"), f"an error of {AMI}"),
    "an error of a read": (
        "ReadResource",
        resource_pb2.ReadResourceRequest(type=engine_calls.STACK),
        OSError("gone"),
        f"an error of {engine_calls.STACK}",
    ),
    "a resource of others": (
        "ReadResource",
        resource_pb2.ReadResourceRequest(type="aws:ec2/vpc:Vpc", name="theirs"),
        None,
        "aws:ec2/vpc:Vpc theirs, which another made",
    ),
    "a method": ("Call", resource_pb2.ResourceCallRequest(tok="a:b:c/d"), None, "a call of a:b:c/d"),
}


@pytest.mark.parametrize("case", OTHERS)
def test_what_can_t_be_told_again_is_unknown(case: str, lines: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    how, request, answer, told = OTHERS[case]
    ask = getattr(engine(monkeypatch, answer), how)
    if isinstance(answer, Exception):
        with pytest.raises(OSError, match="gone"):
            ask(request)
    else:
        ask(request)
    assert lines() == [["unknown", told, ""]]
