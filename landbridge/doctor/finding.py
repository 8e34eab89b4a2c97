"""What a look may find, and in which order people should hear of it."""

from typing import Any, Literal, NamedTuple

Severity = Literal["broken", "ailing", "soon"]
# Worst first: something does not work; it works, and the next fault will be felt; somebody should see to it in time.
SEVERITIES: tuple[Severity, ...] = ("broken", "ailing", "soon")


class Finding(NamedTuple):
    """`what` says what is wrong and where, `remedy` what to do: a command in backquotes, or a sentence."""

    area: str
    severity: Severity
    what: str
    remedy: str

    @property
    def rank(self) -> int:
        return SEVERITIES.index(self.severity)

    def as_json(self) -> dict[str, Any]:
        return self._asdict()


def sentence(text: str) -> str:
    """With one full stop at its end."""
    return f"{text.rstrip('.')}."
