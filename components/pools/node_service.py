"""Units of ours that speak as the node itself: they begin once the machine knows which node it is."""

from pathlib import Path
from typing import Any

from components.control_plane.units import script, service

from . import kubelet

OWN_SCRIPTS, ROOT = Path(__file__).with_name("on_machine"), Path(__file__).parents[2]


def node_service(what: str, program: str, more: str = "", **settings: Any) -> str:
    """`more` are lines of its [Unit], `settings` those of its [Service]."""
    text = service(what, script(program), kind="exec", EnvironmentFile=kubelet.FACTS, **settings)
    needed = f"Requires={kubelet.FACTS_UNIT}\nAfter={kubelet.FACTS_UNIT}\n{more}"
    return text.replace("[Unit]\n", f"[Unit]\n{needed}", 1)
