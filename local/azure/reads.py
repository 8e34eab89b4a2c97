"""What ARM answers that is no resource of anybody's: usages, sizes. Pattern of the path, in small letters → answer."""

from collections.abc import Mapping

from .requests import Read

READS: Mapping[str, Read] = {}
