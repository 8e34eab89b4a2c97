"""`landbridge grafana`: what a Grafana shows of clusters, as files that it reads."""

import errno
from pathlib import Path

import click

from landbridge.dashboards.grafana import BOARDS, written
from landbridge.errors import DONE, UsageError

from . import options
from .options import json_option

IMPORT = """\
In Grafana (10.1 or newer): Dashboards, New, Import, and one file after the other. Or let a provider of dashboards read
the folder. Then choose your Prometheus at the top of each."""


@click.command()
@options.output_option("folder", folder=True)
@json_option
def grafana(*, folder: Path, as_json: bool) -> int:
    """Writes dashboards for Grafana: the fleet, its GPUs, its control planes and the work on it.

    It asks no cluster and reads no fleet file: the same dashboards are for every fleet. The folder is made if it is not
    there, and what an earlier run wrote is replaced.
    """
    out = options.output(as_json=as_json)
    files = {board.uid: folder / f"{board.uid}.json" for board in BOARDS}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for board in BOARDS:
            files[board.uid].write_text(written(board))
    except OSError as error:
        in_its_place = error.errno in (errno.EEXIST, errno.ENOTDIR)
        why = "there is a file in the place of a folder" if in_its_place else error.strerror
        raise UsageError(f"{error.filename} can't be written: {why}. Name another folder with --output.") from None
    if as_json:
        told = [{"uid": board.uid, "title": board.title, "file": files[board.uid]} for board in BOARDS]
        out.document({"dashboards": told})
        return DONE
    for board in BOARDS:
        out.console.print(f"{files[board.uid]}: {board.says}", markup=False, soft_wrap=True)
    out.console.print(f"\n{IMPORT}", markup=False, soft_wrap=True)
    return DONE
