"""What the documents claim is run: their fleets load, their tables are the code's, their links and commands lead somewhere."""

import re
import shlex
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import click
import pytest
from pydantic import BaseModel
from ruamel.yaml import YAML

import fleet.model as models
from fleet import monitoring_model
from fleet.address import ledger as ledgers
from fleet.address import reserved, sizes
from fleet.address.plan import draft
from fleet.fields import Model
from fleet.loader import load
from fleet.model import Fleet
from landbridge.commands import landbridge
from tests.fleet.azure.test_plan import DAY, beside

ROOT = Path(__file__).parents[1]
FLEET_FILE = ROOT / "docs/guide/fleet-file.md"
ADDRESS_PLAN = ROOT / "docs/guide/address-plan.md"
# The changelog is left out: it may name what is no more.
TOP = [path for path in ROOT.glob("*.md") if path.name != "CHANGELOG.md"]
DOCUMENTS = sorted([*TOP, *(ROOT / "docs").rglob("*.md")])
WHOLE = "# a whole fleet\n"
# Heading of a table in fleet-file.md → the model whose keys it names.
TABLES: dict[str, type[Model]] = {
    "Top level": Fleet,
    "reserved": models.Reserved,
    "ingress": models.Ingress,
    "state": models.State,
    "aws": models.AwsAccount,
    "azure": models.AzureSubscription,
    "limits": models.Limits,
    "images": models.Images,
    "regions": models.Region,
    "quotas": models.Quotas,
    "sites": models.Site,
    "hosts": models.Host,
    "storage": models.Storage,
    "shares": models.Share,
    "maintenance": models.Maintenance,
    "windows": models.Window,
    "postpone": models.Postponing,
    "monitoring": monitoring_model.Monitoring,
    "receivers": monitoring_model.Receiver,
    "alarms": monitoring_model.OwnAlarm,
    "remote_write": monitoring_model.RemoteWrite,
    "logs": monitoring_model.Logs,
    "clusters": models.Cluster,
    "pools": models.Pool,
    "teams": models.Team,
    "queues": models.TeamQueue,
    "buckets": models.TeamBucket,
    "people": models.Person,
}
Rows = list[list[str]]


class Fence(NamedTuple):
    """A block of code, without the indentation of the list it may stand in; `heading` is the nearest one above."""

    language: str
    text: str
    heading: str


def read(path: Path) -> tuple[list[str], list[Fence]]:
    """The lines outside blocks of code, and the blocks."""
    prose: list[str] = []
    fences: list[Fence] = []
    inside: list[str] | None = None
    language = heading = indentation = ""
    for line in path.read_text().splitlines():
        if opening := re.match(r"( *)```(\w*)$", line):
            if inside is None:
                indentation, language, inside = opening[1], opening[2], []
            else:
                fences.append(Fence(language, "\n".join(inside) + "\n", heading))
                inside = None
        elif inside is not None:
            inside.append(line.removeprefix(indentation))
        else:
            heading = found[1] if (found := re.match(r"#+ (.*)", line)) else heading
            prose.append(line)
    assert inside is None, f"{path.name}: a block of code has no end"
    return prose, fences


def tables(path: Path) -> dict[str, list[Rows]]:
    """Every table under its heading, header row first, without the row of dashes and the marks of code."""
    found: dict[str, list[Rows]] = {}
    heading, before = "", ""
    for line in read(path)[0]:
        if title := re.match(r"#+ (.*)", line):
            heading = title[1]
        elif line.startswith("|"):
            if not before.startswith("|"):
                found.setdefault(heading, []).append([])
            cells = [cell.strip().replace("`", "") for cell in line.strip("|").split("|")]
            if not all(set(cell) <= set("-:") for cell in cells):
                found[heading][-1].append(cells)
        before = line
    return found


def key_tables() -> dict[str, dict[str, list[str]]]:
    """Of fleet-file.md: heading → key → meaning, default, allowed."""
    found = {}
    for heading, under in tables(FLEET_FILE).items():
        assert len(under) == 1, heading
        assert under[0][0] == ["key", "meaning", "default", "allowed"], heading
        keys = [row[0] for row in under[0][1:]]
        assert len(keys) == len(set(keys)), f"{heading}: a key stands twice"
        found[heading] = {row[0]: row[1:] for row in under[0][1:]}
    return found


def default_in_words(default: Any) -> str:
    if isinstance(default, BaseModel):
        return "see below"
    if isinstance(default, bool):
        return str(default).lower()
    return "none" if default in (None, [], {}) else str(default)


def constraints(schema: Any) -> Iterator[str]:
    """The choices and borders in one key's JSON Schema, but not in what its entries refer to."""
    if isinstance(schema, dict):
        yield from (str(choice) for choice in schema.get("enum", ()))
        for border in ("minimum", "maximum", "exclusiveMinimum", "minItems", "maxItems"):
            if border in schema:
                yield f"{schema[border]:g}" if isinstance(schema[border], float) else str(schema[border])
        for part in ("anyOf", "items"):
            yield from constraints(schema.get(part))
    elif isinstance(schema, list):
        for part in schema:
            yield from constraints(part)


def numbered(cell: str) -> str:
    """The cell with its small numbers as figures."""
    words = {"at least one": "at least 1", "one or more": "1 or more"}
    for word, figure in words.items():
        cell = cell.replace(word, figure)
    return cell


def test_every_model_has_a_table() -> None:
    entries = {**vars(models), **vars(monitoring_model)}
    ours = {m for m in entries.values() if isinstance(m, type) and issubclass(m, Model) and m is not Model}
    assert set(TABLES.values()) == ours
    assert key_tables().keys() == TABLES.keys()


@pytest.mark.parametrize("heading", TABLES)
def test_a_table_names_every_key_with_its_default_and_no_other(heading: str) -> None:
    documented, fields = key_tables()[heading], TABLES[heading].model_fields
    assert list(documented) == list(fields)
    said = {key: cells[1] for key, cells in documented.items()}
    assert said == {
        key: "required" if field.is_required() else default_in_words(field.get_default(call_default_factory=True))
        for key, field in fields.items()
    }


@pytest.mark.parametrize("heading", TABLES)
def test_a_table_names_every_choice_and_border(heading: str) -> None:
    properties = TABLES[heading].model_json_schema()["properties"]
    missing = [
        f"{key}: {value}"
        for key, cells in key_tables()[heading].items()
        for value in constraints(properties[key])
        # That a port number may be private is said by rules, which narrow the model's own borders.
        if (heading, key) != ("sites", "asn")
        and not re.search(rf"(?<![\w.]){re.escape(value)}(?!\w)", numbered(cells[2]))
    ]
    assert missing == []


def joined(base: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
    both = {**base}
    for key, value in more.items():
        old = both.get(key)
        both[key] = joined(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return both


def yaml_blocks(path: Path) -> list[str]:
    return [fence.text for fence in read(path)[1] if fence.language == "yaml"]


WHOLE_FLEETS = [text for text in yaml_blocks(FLEET_FILE) if text.startswith(WHOLE)]
PARTS = [
    pytest.param(text, id=f"{path.stem}-{text.split(':')[0]}")
    for path in DOCUMENTS
    for text in yaml_blocks(path)
    if not text.startswith(WHOLE)
]


def test_there_is_a_whole_fleet() -> None:
    assert WHOLE_FLEETS


@pytest.mark.parametrize("text", WHOLE_FLEETS)
def test_a_whole_fleet_loads(text: str, tmp_path: Path) -> None:
    (tmp_path / "fleet.yaml").write_text(text)
    assert load(tmp_path / "fleet.yaml").regions


@pytest.mark.parametrize("text", PARTS)
def test_a_part_of_a_fleet_loads_within_the_first_one(text: str, tmp_path: Path) -> None:
    yaml, out = YAML(typ="safe"), StringIO()
    yaml.dump(joined(yaml.load(WHOLE_FLEETS[0]), yaml.load(text)), out)
    (tmp_path / "fleet.yaml").write_text(out.getvalue())
    assert load(tmp_path / "fleet.yaml").regions


def test_the_errors_shown_are_those_that_tests_see() -> None:
    real = {
        re.sub(r"^[\w-]+\.yaml", "fleet.yaml", line)
        for file in (ROOT / "tests/fleet/bad").glob("*/*.error")
        for line in file.read_text().splitlines()
    }
    shown = [line for fence in read(FLEET_FILE)[1] if fence.language == "text" for line in fence.text.splitlines()]
    assert len(shown) >= 10
    assert [line for line in shown if line not in real] == []


def test_sizes_are_those_of_the_plan() -> None:
    regions, sites, clusters = tables(ADDRESS_PLAN)["Sizes"]
    assert regions[1:] == [[name, *(f"/{length}" for length in size)] for name, size in sizes.REGIONS.items()]
    assert sites[1:] == [[name, *(f"/{length}" for length in size)] for name, size in sizes.SITES.items()]
    assert clusters[1:] == [
        [name, f"{size.nodes:,}", *(f"/{length}" for length in size[1:])] for name, size in sizes.CLUSTERS.items()
    ]
    text = ADDRESS_PLAN.read_text()
    assert f"A laptop VPN server has a /{sizes.LAPTOPS}, a tunnel a /{sizes.TUNNEL}." in text
    small, other = sizes.GATEWAYS["small"], sizes.GATEWAYS["medium"]
    assert f"/{small} in a `small` region, else /{other} |" in text
    assert f"| `region/R/names` | /{sizes.NAMES} |" in text
    assert (sizes.TUNNELS_A_GATEWAY, sizes.TUNNELS_BETWEEN_CLOUDS) == (2, 4), "address-plan.md says so in words"


def test_reserved_ranges_are_those_of_the_plan() -> None:
    ranges, tunnels = tables(ADDRESS_PLAN)["Reserved ranges"]
    assert [tuple(row) for row in ranges[1:]] == list(reserved.RESERVED)
    assert [tuple(row) for row in tunnels[1:]] == list(reserved.TUNNEL_RESERVED)
    assert all(cidr in ADDRESS_PLAN.read_text() for cidr in (reserved.TUNNEL_ROOT, *reserved.AZURE_TUNNEL_ROOTS))


def test_fixed_addresses_are_those_of_the_ledger() -> None:
    (names,) = tables(ADDRESS_PLAN)["Fixed addresses"]
    ledger = ledgers.load(ROOT / "fleet.lock.yaml")
    fixed = {
        name: str(e.block).removesuffix("/32") for name, e in ledger.live.items() if e.block.length == sizes.ADDRESS
    }
    # Some are in fleets in two clouds alone.
    clouds = [name for name, block in draft(beside(), ledger, DAY).plan.blocks.items() if block.length == sizes.ADDRESS]
    forms = set()
    for name in clouds:
        *whose, what = name.split("/")[5:]
        whose = ["C" if one == "main" else one for one in whose]
        forms.add("/".join(["region/R/zone/Z/private", *whose, re.sub(r"\d+$", "N", what)]))
    assert {row[0] for row in names[1:]} == forms
    text = ADDRESS_PLAN.read_text()
    shown = re.search(r"In zone (\w) of (\S+) the shares answer on (\d+\.\d+\.\d+\.\d+)\.", text)
    assert shown
    assert fixed[f"region/{shown[2]}/zone/{shown[1]}/private/shares"] == shown[3]
    assert f"first /{sizes.FIXED} of every private subnet" in text
    room = 2 ** (32 - sizes.FIXED) - 2 ** (32 - sizes.RESERVED_BY_CLOUDS)
    assert f"the other {room} are" in " ".join(text.split())


def test_the_picture_of_the_plan_is_the_ledger() -> None:
    ledger = ledgers.load(ROOT / "fleet.lock.yaml")
    real = {"supernet": ledger.supernet} | {name: entry.block for name, entry in ledger.live.items()}
    (picture,) = [f.text for f in read(ADDRESS_PLAN)[1] if f.heading == "How the supernet is carved"]
    shown = re.findall(r"^[│├└─\s]*(\S+) +(\d+\.\S+)", picture, re.MULTILINE)
    assert len(shown) == len(picture.splitlines())
    assert dict(shown) == {name: str(real[name]) for name, _ in shown}


def anchor(heading: str) -> str:
    """The anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    lost = []
    for target in re.findall(r"\]\(([^)\s]+)\)", "\n".join(read(path)[0])):
        if re.match(r"https?:|mailto:", target):
            continue
        file, _, wanted = target.partition("#")
        place = (path.parent / file).resolve() if file else path
        headings = [anchor(line.lstrip("# ")) for line in read(place)[0] if line.startswith("#")] if wanted else []
        if not place.exists() or (wanted and wanted not in headings):
            lost.append(target)
    assert lost == []


@pytest.mark.parametrize("folder", ["guide", "runbooks"])
def test_every_page_is_linked_from_another(folder: str) -> None:
    linked = {
        (path.parent / target.partition("#")[0]).resolve()
        for path in DOCUMENTS
        for target in re.findall(r"\]\(([^)\s]+)\)", path.read_text())
        if not target.startswith("#")
    }
    pages = {page for page in (ROOT / "docs" / folder).glob("*.md") if page.name != "README.md"}
    assert sorted(page.name for page in pages - linked) == []


# Options of git and pip that documents name without the command before them.
FOREIGN = {"--ours", "--theirs", "--require-hashes"}
COMMAND = re.compile(r"^(?:\$ )?(?:[A-Z_]+=\S+ +)*(?:\.venv/bin/)?landbridge +(.*)", re.MULTILINE)


def command_lines(path: Path) -> Iterator[str]:
    """What follows `landbridge` in blocks of code and in code within prose."""
    prose, fences = read(path)
    for fence in fences:
        if fence.language in ("", "text", "sh", "bash"):
            yield from COMMAND.findall(fence.text)
    # Code within prose may run over the end of a line.
    for code in re.findall(r"`([^`]+)`", "\n".join([*prose, *(fence.text for fence in fences)])):
        yield from COMMAND.findall(" ".join(code.split()))


def check(command: click.Command, name: str, arguments: list[str], parent: click.Context | None = None) -> None:
    """Parses as click would and runs nothing. Raises click.UsageError."""
    context = command.make_context(name, arguments, parent=parent)
    left = [*context._protected_args, *context.args]
    if isinstance(command, click.Group) and (left or not command.invoke_without_command):
        child, found, rest = command.resolve_command(context, left)
        assert child is not None
        assert found is not None
        check(found, child, rest, context)


def words(line: str) -> list[str]:
    """The arguments: without what the shell does with the output, and without what another program gets."""
    ours, ours_ends, _ = line.partition(" -- ")
    told = shlex.split(re.split(r"\s[|>;&]", ours)[0].replace(" N", " 1"), comments=True)
    return [*told, "--", "true"] if ours_ends else told


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_command_lines_are_understood(path: Path) -> None:
    wrong = []
    for line in command_lines(path):
        try:
            check(landbridge, "landbridge", words(line))
        except click.UsageError as error:
            wrong.append(f"landbridge {line}: {error.format_message()}")
    assert wrong == []


def test_command_lines_are_found_and_wrong_ones_refused() -> None:
    found = [line for path in DOCUMENTS for line in command_lines(path)]
    assert len(found) >= 50
    for wrong in ("up --lokal", "upp", "local halt", "up --parallel many", "plan --write extra", "local"):
        with pytest.raises(click.UsageError):
            check(landbridge, "landbridge", words(wrong))


def test_options_named_alone_exist() -> None:
    def options(command: click.Command) -> Iterator[str]:
        for parameter in command.params:
            yield from (*parameter.opts, *parameter.secondary_opts)
        if isinstance(command, click.Group):
            for child in command.commands.values():
                yield from options(child)

    known = {*options(landbridge), "--help"}
    named = {
        (path.name, option)
        for path in DOCUMENTS
        for option in re.findall(r"`(--[a-z][a-z-]*)(?: N| FILE)?`", path.read_text())
    }
    assert {(name, option) for name, option in named if option not in known | FOREIGN} == set()
