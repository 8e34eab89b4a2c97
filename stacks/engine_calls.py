"""What a stack's program asks of the engine, written down beside all else it reads: see fleet/witness.py.

Look-ups in a cloud are told with their arguments, so that they can be made again without a program; outputs of other
stacks by the stack's name. What else the engine reads for a program is `unknown`.
"""

import hashlib
import json
from typing import Any

from google.protobuf import json_format
from pulumi.runtime import settings

from fleet import witness

LOOKUP, REFERENCE = "lookup", "reference"
STACK = "pulumi:pulumi:StackReference"
# What it gives is new each time, and nothing but the right to ask: what is asked with it is told by itself.
CREDENTIALS = {"azure-native:authorization:getClientToken"}


def begin() -> None:
    """From now on, where somebody asked for that."""
    witness.begin()
    if witness.here is None:
        return
    engine: Any = settings.get_monitor()
    engine.Invoke = _recorded(engine.Invoke, _lookup)
    engine.ReadResource = _recorded(engine.ReadResource, _read)
    engine.Call = _recorded(engine.Call, lambda request, _: _unknown(f"a call of {request.tok}"))


def digest_of(answer: Any) -> str:
    """Of what a look-up gave, a protobuf Struct."""
    plain = json_format.MessageToDict(answer)
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()[:32]


def _recorded(real: Any, tell: Any) -> Any:
    def ask(request: Any, *arguments: Any, **more: Any) -> Any:
        try:
            answer = real(request, *arguments, **more)
        except Exception:
            _unknown(f"an error of {getattr(request, 'tok', '') or request.type}")
            raise
        tell(request, answer)
        return answer

    return ask


def _lookup(request: Any, answer: Any) -> None:
    assert witness.here is not None
    if list(answer.failures):
        _unknown(f"an error of {request.tok}")
    elif request.tok not in CREDENTIALS:
        given = json_format.MessageToDict(request.args)
        # Without the provider's id, which a preview does not know yet: an update's look-up is the same one.
        what = {"tok": request.tok, "args": given, "provider": request.provider.rpartition("::")[0]}
        witness.here.note(LOOKUP, what, digest_of(getattr(answer, "return")))


def _read(request: Any, _: Any) -> None:
    assert witness.here is not None
    if request.type == STACK:
        witness.here.note(REFERENCE, json_format.MessageToDict(request.properties)["name"])
    else:
        _unknown(f"{request.type} {request.name}, which another made")


def _unknown(what: str) -> None:
    assert witness.here is not None
    witness.here.note(witness.UNKNOWN, what)
