"""The API server's refusals in words: what, which object, why, what to do."""

import re
from collections.abc import Mapping
from typing import Any

from ..servicer import ProviderError
from .api import ApiError
from .objects import PATCH_FORCE, at_least_names

UNDECLARED = "the kind has no such field"
GUIDE = "https://www.pulumi.com/registry/packages/kubernetes/how-to-guides/managing-resources-with-server-side-apply/"


def conflicts(error: ApiError) -> list[tuple[str, str]]:
    """Field and its manager, of each cause of an apply conflict."""
    found = []
    for cause in error.causes:
        if cause.get("reason") == "FieldManagerConflict":
            named = re.search(r'conflict with "([^"]*)"', str(cause.get("message")))
            found.append((str(cause.get("field")), named[1] if named else "another manager"))
    return found


def refusal(error: ApiError, thing: Mapping[str, Any], doing: str) -> ProviderError:
    """`doing` is what we were at: create, update, delete, read."""
    which = at_least_names(thing)
    if clashes := conflicts(error):
        managed = "; ".join(f"{field.lstrip('.')} is managed by {manager}" for field, manager in clashes)
        return ProviderError(
            f"conflict: {which} was not changed: {managed}. Take the field out of the program to leave it to its "
            f'manager, or set the annotation {PATCH_FORCE}: "true" on the resource to take it over ({GUIDE})'
        )
    why = _unsaid(_why(error), thing)
    text = f"the API server refused to {doing} {which}: {why}"
    hint = _hint(error, thing)
    return ProviderError(f"{text}{'' if text.endswith('.') or not hint else '.'}{' ' if hint else ''}{hint}")


def _why(error: ApiError) -> str:
    """Cause by cause where there are any: the message itself repeats object and causes in one long line."""
    reasons = [
        f"{cause['field']}: {cause['message']}" if cause.get("field") else str(cause.get("message"))
        for cause in error.causes
        if cause.get("message")
    ]
    if reasons:
        return "; ".join(dict.fromkeys(reasons))
    return _without_values(str(error))


def _unsaid(text: str, thing: Mapping[str, Any]) -> str:
    """A refusal may quote what it refuses; a Secret's values are not for a terminal."""
    if thing.get("kind") == "Secret":
        for name in ("data", "stringData"):
            section = thing.get(name)
            for value in section.values() if isinstance(section, dict) else ():
                if isinstance(value, str) and value:
                    text = text.replace(value, "[secret]")
    return text


def _without_values(message: str) -> str:
    """A decoding error quotes the whole manifest, which may be a Secret's; and an apply's repeats the object's name."""
    message = re.sub(r"(unrecognized|error found in) .*?\.\.\.: \|.*?\|", r"\1 …", message, flags=re.DOTALL)
    # failed to create typed patch object (NAMESPACE/NAME; VERSION, Kind=KIND): errors:\n  .spec.a: …\n  .spec.b: …
    bare = re.sub(r"^failed to create typed patch object \([^)]*\): (errors:)?", "", message)
    if bare != message:
        lines = [line.strip().removeprefix(".") for line in bare.splitlines()]
        message = "; ".join(line.replace("field not declared in schema", UNDECLARED) for line in lines if line)
    return message[:2000]


def lacks_the_right(error: ApiError) -> bool:
    """Whether it is the user that may not, rather than an admission rule that does not want the object."""
    return error.code == 403 and bool(re.search(r'User "[^"]*" cannot ', str(error)))


def _hint(error: ApiError, thing: Mapping[str, Any]) -> str:
    if "strict decoding error" in str(error) or "field not declared in schema" in str(error):
        return "Correct or remove what the kind has no place for"
    if error.code == 401:
        return "The credential is not accepted: it has ended, or is another cluster's"
    if error.code == 403:
        return "The kubeconfig's user needs that right, or the admission rule that said so must allow it"
    if error.code == 404 and error.about == "namespaces":
        namespace = (thing.get("metadata") or {}).get("namespace") or "default"
        return f"Create the namespace {namespace} in the program and make this resource depend on it"
    if error.code == 409 and "is being terminated" in str(error):
        return "Its namespace is being deleted: wait until it is gone"
    return ""


def exists_already(thing: Mapping[str, Any]) -> ProviderError:
    which = at_least_names(thing)
    return ProviderError(
        f"{which} exists already in the cluster and is not this program's: nothing was changed. After a rename in "
        "the program, give the resource its old name as an alias; to take the object over, use `pulumi import`, or set "
        "upsert_existing_objects on the provider; to manage some of its fields only, use the Patch resource of its kind"
    )


def unknown_kind(thing: Mapping[str, Any], doing: str) -> ProviderError:
    return ProviderError(
        f"can't {doing} {at_least_names(thing)}: the API server knows no {thing.get('kind')} in "
        f"{thing.get('apiVersion')}. Is the name right, and is its definition made before it (depends_on)?"
    )
