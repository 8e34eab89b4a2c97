"""Quotas in a region of Azure with what of them is used: one list has both ("Usage - List"), of Compute and of Network.

Azure writes its own names in capitals and in small letters.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from ..quota_share import Share


def told(rows: Iterable[Mapping[str, Any]]) -> dict[str, Share]:
    """By names in small letters; `rows` as the list's answer has them."""
    return {one["name"]["value"].lower(): Share(float(one["limit"]), float(one["currentValue"])) for one in rows}
