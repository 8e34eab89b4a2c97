"""The `random` plugin: values from the system's source of randomness."""

import base64
import secrets
import string
import uuid
from collections.abc import Mapping
from typing import Any, ClassVar

from .codec import Properties
from .servicer import ProviderError
from .values import Value, Values

# pulumi-random's RandomPassword page: the special characters in use unless overrideSpecial names others.
SPECIAL = "!@#$%&*()-_=+[]{}<>:?"
_random = secrets.SystemRandom()
_STRING_DEFAULTS = {
    "lower": True,
    "upper": True,
    "numeric": True,
    "special": True,
    "minLower": 0,
    "minUpper": 0,
    "minNumeric": 0,
    "minSpecial": 0,
}


def _text(inputs: Properties) -> str:
    classes = {
        "lower": string.ascii_lowercase,
        "upper": string.ascii_uppercase,
        "numeric": string.digits,
        "special": inputs.get("overrideSpecial") or SPECIAL,
    }
    numeric = inputs["numeric"] if inputs.get("number") is None else inputs["number"]
    used = {name: chars for name, chars in classes.items() if (numeric if name == "numeric" else inputs[name])}
    least = {name: int(inputs[f"min{name.capitalize()}"]) for name in classes}
    length = int(inputs["length"])
    if length < 1 or length < sum(least.values()):
        raise ProviderError(
            f"length {length} is below 1 or below the sum of the minimum counts ({sum(least.values())})"
        )
    if not used:
        raise ProviderError("at least one of lower, upper, numeric and special must be true")
    if unusable := [name for name, count in least.items() if count and name not in used]:
        raise ProviderError(f"a minimum is set for {', '.join(unusable)}, which is off")
    picked = [secrets.choice(classes[name]) for name, count in least.items() for _ in range(count)]
    picked += [secrets.choice("".join(used.values())) for _ in range(length - len(picked))]
    _random.shuffle(picked)
    return "".join(picked)


def _string(inputs: Properties) -> tuple[str, Properties]:
    text = _text(inputs)
    return text, {"result": text}


def _password(inputs: Properties) -> tuple[str, Properties]:
    # The id of a password is "none": ids are never secret.
    return "none", {"result": _text(inputs)}


def _id(inputs: Properties) -> tuple[str, Properties]:
    raw = secrets.token_bytes(int(inputs["byteLength"]))
    prefix = inputs.get("prefix") or ""
    url = base64.urlsafe_b64encode(raw).decode().rstrip("=")
    return url, {
        "hex": prefix + raw.hex(),
        "dec": prefix + str(int.from_bytes(raw)),
        "b64Std": prefix + base64.b64encode(raw).decode(),
        "b64Url": prefix + url,
    }


def _bytes(inputs: Properties) -> tuple[str, Properties]:
    raw = secrets.token_bytes(int(inputs["length"]))
    return "none", {"base64": base64.b64encode(raw).decode(), "hex": raw.hex()}


def _uuid(inputs: Properties) -> tuple[str, Properties]:  # noqa: ARG001
    text = str(uuid.UUID(bytes=secrets.token_bytes(16), version=4))
    return text, {"result": text}


def _seeded(inputs: Properties) -> Any:
    # A seed asks for the same value each time, which only a plain generator gives.
    import random

    return random.Random(inputs["seed"]) if inputs.get("seed") else _random  # noqa: S311


def _integer(inputs: Properties) -> tuple[str, Properties]:
    if inputs["min"] > inputs["max"]:
        raise ProviderError(f"min {inputs['min']} is above max {inputs['max']}")
    number = _seeded(inputs).randint(inputs["min"], inputs["max"])
    return str(number), {"result": number}


def _shuffle(inputs: Properties) -> tuple[str, Properties]:
    items, wanted = list(inputs["inputs"]), inputs.get("resultCount")
    generator, result = _seeded(inputs), list[str]()
    while items and len(result) < (len(items) if wanted is None else wanted):
        result += generator.sample(items, len(items))
    return "-", {"results": result[: len(items) if wanted is None else int(wanted)]}


class Random(Values):
    """Everything but RandomPet, whose word lists are the real provider's own."""

    package = "random"
    table: ClassVar[Mapping[str, Value]] = {
        "random:index/randomString:RandomString": Value(_string, _STRING_DEFAULTS),
        "random:index/randomPassword:RandomPassword": Value(_password, _STRING_DEFAULTS),
        "random:index/randomId:RandomId": Value(_id, {}),
        "random:index/randomBytes:RandomBytes": Value(_bytes, {}),
        "random:index/randomUuid:RandomUuid": Value(_uuid, {}),
        "random:index/randomInteger:RandomInteger": Value(_integer, {}),
        "random:index/randomShuffle:RandomShuffle": Value(_shuffle, {}),
    }
