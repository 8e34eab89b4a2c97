"""`landbridge trace`: whether a packet would pass, by the plan alone."""

from pathlib import Path

import click
from rich.text import Text

from components.links.trace import NoPlaceError, Paths, Port, Way
from fleet.world import current
from landbridge.errors import DONE, FAILED, UsageError
from landbridge.output import Output

from . import options


class PortType(click.ParamType[Port]):
    """PROTOCOL/NUMBER."""

    name = "port"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Port:
        if isinstance(value, Port):
            return value
        protocol, _, number = str(value).partition("/")
        if protocol not in ("tcp", "udp") or not number.isdigit() or not 0 < int(number) < 65_536:
            self.fail(f"{value} is no port such as tcp/443", param, ctx)
        return Port(protocol, int(number))


@click.command()
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
@options.fleet_option
@options.json_option
@click.option("--port", type=PortType(), metavar="PROTOCOL/N", help="Whether security groups let this in, too.")
def trace(source: str, target: str, *, fleet_file: Path | None, as_json: bool, port: Port | None) -> int:
    """Shows hop by hop how a packet gets FROM one place TO another and back, by the plan alone.

    A place is a region, a site, or an address of one. No cloud is asked: this says what the plan lets pass, and
    `landbridge links check` whether it is up. Exit code 1 when it does not arrive, or its answer does not come back.
    """
    world = current(options.existing(fleet_file))
    paths = Paths(world.fleet, world.plan)
    try:
        here, there = paths.place(source), paths.place(target)
    except NoPlaceError as error:
        raise UsageError(f"{world.path.name}: {error}.") from None
    traces = paths.way(here, there, port), paths.way(there, here)
    out, passes = options.output(as_json=as_json), all(way.arrives for way in traces)
    if as_json:
        named = zip(("there", "back"), traces, strict=True)
        out.document({**{name: document(way) for name, way in named}, "passes": passes})
    else:
        for way in traces:
            show(way, out)
    return DONE if passes else FAILED


def document(way: Way) -> dict[str, object]:
    ends = {"from": way.source._asdict(), "to": way.target._asdict()}
    return {**ends, "arrives": way.arrives, "hops": [hop._asdict() for hop in way.hops]}


def show(way: Way, out: Output) -> None:
    colour, word = ("green", "arrives") if way.arrives else ("red", "does not arrive")
    head = Text.assemble((f"{way.source} to {way.target}", "bold"), ": ", (word, colour))
    out.console.print(head, soft_wrap=True)
    for number, hop in enumerate(way.hops, 1):
        look = "" if hop.passes else "red"
        out.console.print(Text.assemble(f"  {number}  ", (f"{hop.at}: ", "dim"), (hop.why, look)), soft_wrap=True)
