"""What is needed of quotas beside what clouds say of them, and the verdict. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from rich.console import Console
from rich.text import Text

from landbridge import tables

from .needs import Need, Uncounted
from .used import Used

Verdict = Literal["enough", "too small at most", "too small", "not told"]
STYLES: Mapping[Verdict, str] = {
    "enough": "green",
    "too small at most": "yellow",
    "too small": "red",
    "not told": "yellow",
}


class Row(NamedTuple):
    """One quota of a region. `told` is None where the cloud says nothing of it, `granted` what the fleet file says.

    `ask` is how to ask for what is needed at most: a command and a page.
    """

    need: Need
    cloud: str
    told: Used | None
    granted: int | None
    ask: tuple[str, str]

    @property
    def now(self) -> int:
        return sum(self.need.now.values())

    @property
    def most(self) -> int:
        return sum(self.need.most.values())

    @property
    def name(self) -> str:
        return ".".join(self.need.place)

    @property
    def verdict(self) -> Verdict:
        if self.told is None:
            return "not told"
        if self.now > self.told.left:
            return "too small"
        return "too small at most" if self.most > self.told.left else "enough"

    @property
    def wanted(self) -> int:
        """What has to be granted, beside what others use."""
        return self.most + int(max(0.0, self.told.used - self.told.ours) if self.told else 0)


class Table(NamedTuple):
    """`away` is why regions did not answer."""

    rows: Sequence[Row]
    uncounted: Sequence[Uncounted]
    away: Mapping[str, str]
    file: str = "The fleet file"

    @property
    def enough(self) -> bool:
        return not self.away and all(row.verdict == "enough" for row in self.rows)

    def show(self, console: Console) -> None:
        heads = ("limit", "used", "ours", "now", "at most")
        table = tables.plain_table("region", "quota", "of", *heads, "verdict", title="Quotas", right=heads)
        for row in self.rows:
            told = [f"{one:,.0f}" for one in row.told[1:]] if row.told else ["-"] * 3
            numbers = (*told, f"{row.now:,}", f"{row.most:,}")
            verdict = Text(row.verdict, STYLES[row.verdict])
            table.add_row(Text(row.need.region, "bold"), row.name, row.need.unit, *numbers, verdict)
        console.print(table)
        for line in self.remarks():
            console.print(Text(line, "yellow"), soft_wrap=True)
        for row in self.rows:
            if row.verdict in ("too small", "too small at most"):
                console.print(f"{row.need.region}, {row.name}: ask for {row.wanted:,}:", markup=False)
                for way in row.ask:
                    console.print(f"  {way}", style="dim", markup=False, soft_wrap=True)

    def remarks(self) -> Iterator[str]:
        """What people should know besides."""
        for row in self.rows:
            if row.told and row.granted is not None and row.granted != row.told.most:
                where = f"{row.name} in {row.need.region}"
                yield (
                    f"{self.file} says that {row.cloud} granted {row.granted:,} of {where}, and {row.cloud} says "
                    f"{row.told.most:,.0f}: write what is granted."
                )
        for one in self.uncounted:
            yield (
                f"{one.region}: {one.what} is in no number: which quota a {one.instance_type} counts in is not known. "
                "`landbridge shapes refresh` fetches what it has."
            )
        for region, why in self.away.items():
            yield f"{region}: quotas are not known: {why}."

    def refusals(self) -> list[str]:
        """Why a run that begins now would come to its end in the middle."""
        found = [f"{region}: quotas can't be checked: {why}" for region, why in self.away.items()]
        for row in self.rows:
            if row.verdict == "too small" and row.told:
                who = ", ".join(f"{name} {number}" for name, number in row.need.now.items() if number)
                others, unit = max(0.0, row.told.used - row.told.ours), row.need.unit
                found.append(
                    f"{row.need.region}: the quota {row.name} ({row.told.name}) is {row.told.most:,.0f} {unit}, "
                    f"others in the account use {others:,.0f}, and the fleet needs {row.now:,} as it begins ({who}). "
                    f"Ask for {row.wanted:,}: `{row.ask[0]}`"
                )
        return found

    def as_json(self) -> dict[str, Any]:
        return {
            "enough": self.enough,
            "quotas": [_document(row) for row in self.rows],
            "uncounted": [one._asdict() for one in self.uncounted],
            "away": dict(self.away),
        }


def _document(row: Row) -> dict[str, Any]:
    told = row.told
    numbers = {"limit": told.most, "used": told.used, "ours": told.ours} if told else {}
    return {
        "region": row.need.region,
        "cloud": row.cloud,
        "quota": row.name,
        "name": told.name if told else None,
        "unit": row.need.unit,
        **{key: numbers.get(key) for key in ("limit", "used", "ours")},
        "fleet_file": row.granted,
        "now": {"all": row.now, "by": dict(row.need.now)},
        "most": {"all": row.most, "by": dict(row.need.most)},
        "verdict": row.verdict,
        "ask": {"for": row.wanted, "command": row.ask[0], "page": row.ask[1]},
    }
