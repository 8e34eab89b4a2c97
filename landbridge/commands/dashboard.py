"""`landbridge dashboard`: the GPUs of a cluster as they are now, in a browser."""

import os
import sys
import threading
import webbrowser
from pathlib import Path
from typing import Any

import click

from landbridge.dashboard.ask import asking
from landbridge.dashboard.front import front
from landbridge.dashboard.server import Newest, Server, listening
from landbridge.errors import DONE, UsageError

from . import options
from .people import opened, person_options

# Without either a browser that is found is one for terminals, and this one is taken.
SCREENS = ("DISPLAY", "WAYLAND_DISPLAY")


@click.command()
@click.option("--port", type=click.IntRange(0, 65535), metavar="N", help="Of the page.  [default: a free one]")
@click.option("--open/--no-open", "opens", default=None, help="In a browser.  [default: open, where there is a screen]")
@click.option("--once", type=click.Path(path_type=Path), metavar="FILE", help="Write the first page there, and end.")
@person_options
def dashboard(*, port: int | None, opens: bool | None, once: Path | None, **where: Any) -> int:
    """Shows GPUs in a browser as they are now: a cell each, who holds them, whether they work, and what waits.

    Only this computer reaches the page, until Ctrl-C. People see their team's runs, operators all.
    """
    if once is not None and port is not None:
        raise UsageError(f"--once writes a file, and serves nothing. Leave out --port {port}.")
    out = options.output(as_json=False)
    if once is not None:
        person = opened(**where, every_team=True)
        options.save(once, front(asking(person).snapshot(), linked=False), "--once")
        out.console.print(f"The page is in {once}.", soft_wrap=True)
        return DONE
    # Before all else: the rest of this may happen inside the local cloud.
    listens = listening(port or 0)
    person = opened(**where, every_team=True)
    with Server(listens, Newest(asking(person).snapshot)) as server:
        screen = sys.stdout.isatty() and any(os.environ.get(name) for name in SCREENS)
        if screen if opens is None else opens:
            threading.Thread(target=webbrowser.open, args=(server.url,), daemon=True).start()
        out.console.print(f"The GPUs of {person.cluster} are at {server.url} until Ctrl-C.", soft_wrap=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            out.console.print()
    return DONE
