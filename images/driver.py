"""NVIDIA's driver as a part of an image: all of it is of the one version that the recipe names.

A fabric manager of another version than the driver does not start, and its GPUs stay uninitialised ("Fabric Manager for
NVIDIA NVSwitch Systems", NVIDIA).
"""

from fnmatch import fnmatchcase

from .errors import ImageError
from .lock import Lock, words
from .recipe import ImageSpec

# Above what is there already (apt_preferences(5)).
PRIORITY = 1001


def preferences(spec: ImageSpec) -> str:
    """For apt, which takes the newest otherwise, of each package for itself."""
    if spec.driver is None:
        return ""
    lines = [f"Package: {' '.join(spec.driver.exact)}", f"Pin: version /{_pattern(spec.driver.version)}/"]
    return "\n".join([*lines, f"Pin-Priority: {PRIORITY}"]) + "\n"


def _pattern(version: str) -> str:
    """With an epoch and a packager's revision, or without."""
    return f"^([0-9]+:)?{version.replace('.', '[.]')}(-|$)"


def upstream(version: str) -> str:
    """Debian's version without epoch and revision."""
    return version.partition(":")[2].rpartition("-")[0] if ":" in version else version.rpartition("-")[0] or version


def check(spec: ImageSpec, locked: Lock) -> None:
    """Raises ImageError where a part of the driver is of another version, or there is none at all."""
    if spec.driver is None:
        return
    parts = [package for package in locked.packages if any(fnmatchcase(package.name, one) for one in spec.driver.exact)]
    if not parts:
        raise ImageError(
            f"{locked.file.name} has no package of the driver {spec.driver_name}: {' '.join(spec.driver.exact)} "
            "fit none. Correct `exact` in recipe.yaml"
        )
    if other := [one for one in parts if upstream(one.version) != spec.driver.version]:
        listed = ", ".join(f"{one.name} {one.version}" for one in other)
        raise ImageError(
            f"{locked.file.name}: the driver {spec.driver_name} is to be {spec.driver.version}, and these are of "
            f"another version: {listed}. Driver and fabric manager work together only where they are of the same one: "
            "name a `version` in recipe.yaml that its repository has of all of them, then "
            f"`landbridge image lock {words(spec)}`. Nothing was baked"
        )
