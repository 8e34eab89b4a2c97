"""The address plan as a tree for people and as a document for machines."""

from typing import Any

from rich.text import Text
from rich.tree import Tree

from fleet.address.blocks import Block
from fleet.address.names import SUPERNET, TUNNELS, parent_of
from fleet.address.plan import Draft
from fleet.address.sizes import ADDRESS

BAR_CELLS = 20
# Kind of change → sign and colour.
SIGNS = {"new": ("+", "green"), "returned": ("+", "cyan"), "released": ("-", "red")}


def families(draft: Draft) -> dict[str, list[tuple[str, Block]]]:
    """The live prefixes under each parent, lowest first."""
    found: dict[str, list[tuple[str, Block]]] = {}
    for name, entry in draft.ledger.live.items():
        found.setdefault(parent_of(name), []).append((name, entry.block))
    for members in found.values():
        members.sort(key=lambda member: member[1])
    return found


def fullness(block: Block, members: list[tuple[str, Block]]) -> float:
    """The share of a block that its members own."""
    return sum(member.addresses for _, member in members) / block.addresses


def tree(draft: Draft) -> Tree:
    """Supernet, aggregates, and what lies in them, each with a bar of how full it is."""
    below = families(draft)
    supernet = draft.ledger.supernet
    root = Tree(label("supernet", supernet, below.get(SUPERNET, [])), guide_style="dim")
    grow(root, SUPERNET, below)
    if links := below.get(TUNNELS):
        tunnels = root.add(Text.assemble(("tunnels", "bold"), f"  {len(links)} of /30 in 169.254.0.0/16"))
        for name, block in links:
            tunnels.add(Text.assemble(name.removeprefix("link/"), (f"  {block}", "cyan")))
    for name, rest in sorted(draft.ledger.resting.items()):
        root.add(Text(f"{name}  {rest.block}  rests since {rest.released}", style="dim"))
    return root


def grow(branch: Tree, parent: str, below: dict[str, list[tuple[str, Block]]]) -> None:
    for name, block in below.get(parent, ()):
        grow(branch.add(label(shown(name, parent), block, below.get(name, []))), name, below)


def shown(name: str, parent: str) -> str:
    """The name without what its place in the tree says already."""
    if parent == SUPERNET:
        return name
    if name.startswith(f"{parent}/"):
        return name.removeprefix(f"{parent}/")
    return name.split("/", 2)[2]


def label(name: str, block: Block, members: list[tuple[str, Block]]) -> Text:
    text = Text.assemble((name, "bold"), "  ", (str(block), "cyan"))
    if block.length == ADDRESS:
        return Text.assemble((name, "bold"), (f"  {block}".removesuffix("/32"), "cyan"))
    if members and members[0][1].length < ADDRESS:
        share = fullness(block, members)
        full = round(share * BAR_CELLS)
        text.append_text(Text.assemble("  ", ("━" * full, "green"), ("━" * (BAR_CELLS - full), "dim"), f" {share:.0%}"))
    else:
        text.append(f"  {block.addresses:,} addresses", style="dim")
    return text


def as_json(draft: Draft, *, stale: bool) -> dict[str, Any]:
    """Every live prefix with its parent and how full it is, what rests, and what changes."""
    below = families(draft)
    return {
        "supernet": {
            "cidr": str(draft.ledger.supernet),
            "full": round(fullness(draft.ledger.supernet, below.get(SUPERNET, [])), 4),
        },
        "stale": stale,
        "prefixes": {
            name: {
                "cidr": str(entry.block),
                "parent": parent_of(name),
                "since": str(entry.since),
                "full": round(fullness(entry.block, below.get(name, [])), 4),
            }
            for name, entry in sorted(draft.ledger.live.items())
        },
        "released": {
            name: {"cidr": str(rest.block), "released": str(rest.released)}
            for name, rest in sorted(draft.ledger.resting.items())
        },
        "changes": [change._asdict() for change in draft.changes],
    }
