"""What gateways say of themselves, as gateway_verify.py prints it there: nobody but their people may log in to them."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import click

from components.links.gateway.spec import GatewaySpec
from components.links.gateway.stamp import plan
from landbridge.errors import UsageError

from .info import Connections
from .tunnel_status import TunnelStatus

PRINTS = "`gateway_verify.py --json`"


class ReportFile(NamedTuple):
    """A file's content. `causes` are by the gateway's own names of tunnels, of those that carry nothing."""

    site: str
    gateway: str
    plan: str
    causes: Mapping[str, str]
    differs: tuple[str, ...]
    troubles: tuple[str, ...]
    next_hop: str


class GatewayReport(NamedTuple):
    """A gateway's word. `plan` is what is installed, `wanted` what the fleet file asks for, empty for no such gateway.

    `causes` are by tunnel, for those that carry nothing.
    """

    site: str
    gateway: str
    plan: str
    wanted: str
    causes: Mapping[str, str]
    differs: tuple[str, ...] = ()
    troubles: tuple[str, ...] = ()
    next_hop: str = ""

    @property
    def drift(self) -> tuple[str, ...]:
        """How the gateway is not as the fleet file has it, and what to do; empty when it is."""
        again = f"write its folder again by `landbridge site gateway {self.site}`, and install it"
        found = []
        if not self.wanted:
            found.append("the fleet file has no such gateway: name it there, or take it away")
        elif self.plan != self.wanted:
            found.append(f"what it runs was made from plan {self.plan}, and now it is {self.wanted}: {again}")
        if self.differs:
            found.append(f"somebody changed {', '.join(self.differs)}: {again}")
        return (*found, *self.troubles)

    def as_json(self) -> dict[str, Any]:
        return {**self._asdict(), "drift": list(self.drift)}


def gateway_reports(links: Connections, files: Sequence[str], site: str | None = None) -> list[GatewayReport]:
    """One for each file; `-` is standard input. Raises UsageError for a file that holds something else."""
    found = [_read(file) for file in files]
    for file, one in zip(files, found, strict=True):
        if site not in (None, one.site):
            raise UsageError(f"{file} is of a gateway of {one.site}, not of {site}.")
    sites = {one.site for one in found} & links.world.fleet.sites.keys()
    specs = {one.address: one for name in sites for one in links.gateways(name)}
    return [_report(one, specs.get(one.gateway)) for one in found]


def _read(file: str) -> ReportFile:
    try:
        with click.open_file(file) as opened:
            report = json.load(opened)
        causes = {str(one["name"]): str(one["trouble"]) for one in report["tunnels"] if one["trouble"]}
        differs, troubles = tuple(map(str, report["differs"])), tuple(map(str, report["troubles"]))
        whose = str(report["site"]), str(report["gateway"]), str(report["plan"])
        return ReportFile(*whose, causes, differs, troubles, str(report["next_hop"]))
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}. Save there what {PRINTS} prints on the gateway.") from None
    except (ValueError, KeyError, TypeError):
        raise UsageError(f"{file} is not what {PRINTS} prints.") from None


def _report(report: ReportFile, spec: GatewaySpec | None) -> GatewayReport:
    names = {end.name: end.tunnel.name for end in spec.ends} if spec else {}
    causes = {names[name]: why for name, why in report.causes.items() if name in names}
    return GatewayReport(**{**report._asdict(), "causes": causes, "wanted": plan(spec) if spec else ""})


def explained(tunnels: Sequence[TunnelStatus], gateways: Sequence[GatewayReport]) -> list[TunnelStatus]:
    """The clouds see that a tunnel is down, its gateway knows why."""
    causes = {name: why for one in gateways for name, why in one.causes.items()}
    return [one._replace(cause=causes.get(one.tunnel, "")) for one in tunnels]
