"""The recipe as data: bases, what is in every image, and variants. Read with lines, because errors name them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import Field, ValidationError

from fleet.errors import FleetError
from fleet.yaml import EntryPath, Lines, plain, read

from .baked import Part
from .errors import ImageError

RECIPE = Path(__file__).with_name("recipe.yaml")

# https://www.debian.org/doc/debian-policy/ch-controlfields.html#source
Package = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9+.-]+$")]
Unit = Annotated[str, Field(pattern=r"^[\w@.:-]+\.(service|socket|target|timer|mount)$")]
Uri = Annotated[str, Field(pattern=r"^https?://[^\s/]+(/[^\s/]+)*$")]


class Suite(Part):
    mirror: str
    suite: str
    components: list[str]


class Base(Part):
    """A distribution: where its packages come from, whose signatures count, its kernels by what they are for."""

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


class Variant(Part):
    """`most_mib` bounds its root file system. `idle` are units that its packages start, and only bundles may."""

    kernel: str
    node: bool
    packages: list[Package]
    programs: list[str]
    idle: list[Unit] = Field(default_factory=list)
    most_mib: int


class Recipe(Part):
    bases: dict[str, Base]
    common: Common
    node: Node
    variants: dict[str, Variant]


class Asked(NamedTuple):
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
        told = [_told(file.name, lines, tuple(one["loc"]), one["msg"]) for one in error.errors()]
        raise ImageError("\n".join(told)) from None
    if problems := [_told(file.name, lines, path, what) for path, what in _broken(recipe)]:
        raise ImageError("\n".join(problems))
    return Loaded(recipe, lines, file.name)


def _told(file: str, lines: Lines, path: EntryPath, what: str) -> str:
    return f"{file}:{lines.of(path)}: {'.'.join(map(str, path))}: {what}."


def _broken(recipe: Recipe) -> Iterator[tuple[EntryPath, str]]:
    """What the fields' shapes can't say."""
    for name, base in recipe.bases.items():
        for n, suite in enumerate(base.suites):
            if suite.mirror not in base.mirrors:
                known = ", ".join(base.mirrors)
                yield ("bases", name, "suites", n), f"there is no mirror {suite.mirror!r}. Name one of: {known}"
        for mirror in sorted(base.archives.keys() - base.mirrors.keys()):
            yield (
                ("bases", name, "archives", mirror),
                f"an archive of no mirror. Name one of: {', '.join(base.mirrors)}",
            )
    for name, variant in recipe.variants.items():
        for base_name, base in recipe.bases.items():
            if variant.kernel not in base.kernels:
                known = ", ".join(base.kernels)
                what = f"{base_name} has no kernel {variant.kernel!r}. Name one of: {known}"
                yield ("variants", name, "kernel"), what


def asked(loaded: Loaded, base: str, variant: str) -> Asked:
    """Raises ImageError for a base or variant that the recipe lacks."""
    recipe = loaded.recipe
    for what, name, known in (("base", base, recipe.bases), ("variant", variant, recipe.variants)):
        if name not in known:
            raise ImageError(f"{loaded.file} has no {what} {name!r}. It has: {', '.join(known)}")
    chosen = recipe.variants[variant]
    parts: list[tuple[EntryPath, list[str]]] = [
        (("common", "packages"), recipe.common.packages),
        (("node", "packages"), recipe.node.packages if chosen.node else []),
        (("variants", variant, "packages"), chosen.packages),
    ]
    kernel = recipe.bases[base].kernels[chosen.kernel]
    origins = {kernel: f"{loaded.file}:{loaded.lines.of(('bases', base, 'kernels', chosen.kernel))}"}
    for path, names in parts:
        origins |= {name: f"{loaded.file}:{loaded.lines.of((*path, n))}" for n, name in enumerate(names)}
    return Asked(
        base,
        recipe.bases[base],
        variant,
        chosen,
        kernel,
        tuple(sorted(origins)),
        tuple(sorted({*(recipe.node.programs if chosen.node else []), *chosen.programs})),
        tuple(sorted(recipe.common.enabled)),
        tuple(sorted(chosen.idle)),
        tuple(sorted(recipe.common.masked)),
        origins,
    )
