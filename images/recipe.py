"""The recipe as data: bases, what is in every image, and variants. Read with lines, because errors name them."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import Field, ValidationError

from fleet.errors import FleetError
from fleet.yaml import EntryPath, Lines, plain, read

from .baked import Name, Part
from .errors import ImageError

RECIPE = Path(__file__).with_name("recipe.yaml")

# https://www.debian.org/doc/debian-policy/ch-controlfields.html#source
Package = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9+.-]+$")]
Unit = Annotated[str, Field(pattern=r"^[\w@.:-]+\.(service|socket|target|timer|mount)$")]
# NVIDIA's own numbers: 580.178.04.
Version = Annotated[str, Field(pattern=r"^\d+(\.\d+)+$")]
Uri = Annotated[str, Field(pattern=r"^https?://[^\s/]+(/[^\s/]+)*$")]


class Suite(Part):
    """A repository without suites has `/` for one and no components. `keyring` is another than its base's."""

    mirror: str
    suite: str
    components: list[str]
    keyring: str | None = None


class Base(Part):
    """A distribution: where its packages come from, whose signatures count, its kernels by what they are for.

    A keyring without a path is one of images/keyrings.
    """

    keyring: str
    mirrors: dict[str, Uri]
    archives: dict[str, Uri] = Field(default_factory=dict)
    suites: list[Suite]
    kernels: dict[str, Package]


class Common(Part):
    packages: list[Package]
    enabled: list[Unit]
    masked: list[Unit]


class Node(Part):
    packages: list[Package]
    programs: list[str]
    enabled: list[Unit] = Field(default_factory=list)


class Variant(Part):
    """`most_mib` bounds its root file system. `idle` are units that its packages start, and only bundles may.

    `gpus` says that it may have a driver, `services` that it has the container of our own services.
    """

    kernel: str
    node: bool
    gpus: bool = False
    services: bool = False
    packages: list[Package]
    programs: list[str]
    enabled: list[Unit] = Field(default_factory=list)
    idle: list[Unit] = Field(default_factory=list)
    most_mib: int


class Services(Part):
    """The container of our own services: those `packages` of a variant's lock, and what goes with that Python."""

    base: str
    variant: str
    python: str = Field(pattern=r"^\d+\.\d+$")
    packages: list[Package]


class Driver(Part):
    """NVIDIA's driver for one base: `packages`, from the base's own repositories or from `suites` beside them.

    All packages that a pattern of `exact` fits have to be of `version`.
    """

    base: str
    version: Version
    mirrors: dict[str, Uri] = Field(default_factory=dict)
    suites: list[Suite] = Field(default_factory=list)
    packages: list[Package]
    exact: list[str]
    enabled: list[Unit]


class Recipe(Part):
    bases: dict[str, Base]
    common: Common
    node: Node
    drivers: dict[str, Driver] = Field(default_factory=dict)
    services: Services | None = None
    variants: dict[Name, Variant]


class ImageSpec(NamedTuple):
    """One image's part of a recipe. `origins` says in which line of the file each package is asked for."""

    base_name: str
    base: Base
    variant_name: str
    variant: Variant
    kernel: str
    packages: tuple[str, ...]
    programs: tuple[str, ...]
    enabled: tuple[str, ...]
    disabled: tuple[str, ...]
    masked: tuple[str, ...]
    origins: dict[str, str]
    driver_name: str | None = None
    driver: Driver | None = None


class Loaded(NamedTuple):
    recipe: Recipe
    lines: Lines
    file: str


def load(file: Path = RECIPE) -> Loaded:
    """Raises ImageError with every problem and its line."""
    try:
        data, lines = read(file)
        recipe = Recipe.model_validate(plain(data))
    except FleetError as error:
        raise ImageError(str(error)) from None
    except ValidationError as error:
        messages = [_problem(file.name, lines, tuple(one["loc"]), one["msg"]) for one in error.errors()]
        raise ImageError("\n".join(messages)) from None
    if problems := [_problem(file.name, lines, path, what) for path, what in _broken(recipe)]:
        raise ImageError("\n".join(problems))
    return Loaded(recipe, lines, file.name)


def _problem(file: str, lines: Lines, path: EntryPath, what: str) -> str:
    return f"{file}:{lines.of(path)}: {'.'.join(map(str, path))}: {what}."


def _broken(recipe: Recipe) -> Iterator[tuple[EntryPath, str]]:
    """What the fields' shapes can't say."""
    for name, base in recipe.bases.items():
        for n, suite in enumerate(base.suites):
            yield from _mirrorless(("bases", name, "suites", n), suite, base.mirrors)
        for mirror in sorted(base.archives.keys() - base.mirrors.keys()):
            yield (
                ("bases", name, "archives", mirror),
                f"an archive of no mirror. Name one of: {', '.join(base.mirrors)}",
            )
    yield from _broken_drivers(recipe)
    for name, variant in recipe.variants.items():
        if variant.services and recipe.services is None:
            yield ("variants", name, "services"), "the recipe does not say what services are made of. Add services"
        for base_name, base in recipe.bases.items():
            if variant.kernel not in base.kernels:
                known = ", ".join(base.kernels)
                what = f"{base_name} has no kernel {variant.kernel!r}. Name one of: {known}"
                yield ("variants", name, "kernel"), what


def _broken_drivers(recipe: Recipe) -> Iterator[tuple[EntryPath, str]]:
    for name, driver in recipe.drivers.items():
        if driver.base not in recipe.bases:
            known = ", ".join(recipe.bases)
            yield ("drivers", name, "base"), f"there is no base {driver.base!r}. Name one of: {known}"
            continue
        for n, suite in enumerate(driver.suites):
            yield from _mirrorless(("drivers", name, "suites", n), suite, driver.mirrors)
        for mirror in sorted(driver.mirrors.keys() & recipe.bases[driver.base].mirrors):
            yield ("drivers", name, "mirrors", mirror), f"{driver.base} has a mirror of this name: give it another"


def _mirrorless(path: EntryPath, suite: Suite, mirrors: Mapping[str, str]) -> Iterator[tuple[EntryPath, str]]:
    if suite.mirror not in mirrors:
        yield path, f"there is no mirror {suite.mirror!r}. Name one of: {', '.join(mirrors)}"


def _known(file: str, what: str, name: str, known: Iterable[str]) -> None:
    if name not in known:
        raise ImageError(f"{file} has no {what} {name!r}. It has: {', '.join(known) or 'none'}")


def _fitting(loaded: Loaded, base: str, variant: str, name: str) -> Driver:
    recipe = loaded.recipe
    _known(loaded.file, "driver", name, recipe.drivers)
    found = recipe.drivers[name]
    if found.base != base:
        raise ImageError(f"The driver {name} is for {found.base}, and not for {base}: --base {found.base}")
    if not recipe.variants[variant].gpus:
        fit = ", ".join(name for name, one in recipe.variants.items() if one.gpus)
        raise ImageError(f"Machines of variant {variant} have no GPU and take no driver. Those that do: {fit}")
    return found


def select(loaded: Loaded, base: str, variant: str, driver: str | None = None) -> ImageSpec:
    """Raises ImageError for a base, variant or driver that the recipe lacks, and for a driver that fits neither."""
    recipe = loaded.recipe
    _known(loaded.file, "base", base, recipe.bases)
    _known(loaded.file, "variant", variant, recipe.variants)
    chosen = recipe.variants[variant]
    of_node = recipe.node if chosen.node else Node(packages=[], programs=[])
    own = _fitting(loaded, base, variant, driver) if driver else None
    parts: list[tuple[EntryPath, list[str]]] = [
        (("common", "packages"), recipe.common.packages),
        (("node", "packages"), of_node.packages),
        (("variants", variant, "packages"), chosen.packages),
        (("drivers", driver or "", "packages"), own.packages if own else []),
    ]
    kernel = recipe.bases[base].kernels[chosen.kernel]
    origins = {kernel: f"{loaded.file}:{loaded.lines.of(('bases', base, 'kernels', chosen.kernel))}"}
    for path, names in parts:
        origins |= {name: f"{loaded.file}:{loaded.lines.of((*path, n))}" for n, name in enumerate(names)}
    return ImageSpec(
        base,
        with_driver(recipe.bases[base], own),
        variant,
        chosen,
        kernel,
        tuple(sorted(origins)),
        tuple(sorted({*of_node.programs, *chosen.programs})),
        tuple(sorted({*recipe.common.enabled, *of_node.enabled, *chosen.enabled, *(own.enabled if own else [])})),
        tuple(sorted(chosen.idle)),
        tuple(sorted(recipe.common.masked)),
        origins,
        driver,
        own,
    )


def with_driver(base: Base, driver: Driver | None) -> Base:
    """A base that has the driver's repositories beside its own."""
    if driver is None:
        return base
    return base.model_copy(update={"mirrors": base.mirrors | driver.mirrors, "suites": [*base.suites, *driver.suites]})
