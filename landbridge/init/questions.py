"""What is asked, and by which option the same is said: one reader for both."""

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any, NamedTuple

from . import answers
from .answers import NONE, Answers


class Question(NamedTuple):
    """`field` is that of Answers, `read` raises ValueError with what would be right."""

    field: str
    option: str
    text: str
    read: Callable[[str], Any]


QUESTIONS = (
    Question("name", "--name", "Name of the fleet", answers.a_name),
    Question(
        "regions",
        "--region",
        "Regions, the cluster's home first (aws:us-west-2, azure:westeurope, …)",
        answers.places,
    ),
    Question("sites", "--site", "Machine rooms of your own, by names", answers.names),
    Question("gpus", "--gpus", "Most GPUs in clouds at a time", answers.number),
    Question("reserved", "--reserved", "Prefixes of your other networks (10.0.0.0/16, …)", answers.names),
)
assert [one.field for one in QUESTIONS] == [field.name for field in fields(Answers)]


def shown(value: Any) -> str:
    """An answer as one would type it."""
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or NONE
    return str(value)


def answered(so_far: Answers, question: Question, text: str) -> Answers:
    """With the answer to one question more. Raises ValueError."""
    return replace(so_far, **{question.field: question.read(text)})
