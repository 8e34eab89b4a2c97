"""The drill that fills a ring. Eight GiB would take an hour, so its members get a small quota for the time."""

import json
import time

from landbridge.etcd.defrag import NOSPACE, defrag
from landbridge.etcd.machine_steps import side_by_side
from landbridge.etcd.replace import write
from landbridge.etcd.ring import CREDENTIAL, RING

from .bench import Bench, DrillError, Outcome

CONFIG, FILLER = "/etc/etcd/main.json", "/landbridge-drill/filler"
ROOM_BYTES, PIECE_BYTES = 8 * 1024**2, 1_000_000


def quota_filled(bench: Bench) -> Outcome:
    """Etcd main reaches its quota and takes no writes; `etcd defrag` frees it, and they go on."""
    saved = side_by_side(lambda name: bench.steps.do(name, f"reading {CONFIG}", "cat", CONFIG), bench.etcd)
    used = max(member.db_bytes or 0 for member in bench.look("main").members)
    limit = used + ROOM_BYTES
    bench.mark.add(files={name: {CONFIG: text} for name, text in saved.items()})
    bench.tell(f"for this drill the quota of etcd main is {limit / 1024**2:.0f} MiB")
    try:
        configure(bench, {name: limited(text, limit) for name, text in saved.items()})
        begun = time.monotonic()
        fill(bench)
        refused = bench.writer.refused("database space exceeded", begun, 30)
        ails = bench.look("main").ails(bench.info.etcd)
        if not any(NOSPACE in ail for ail in ails):
            raise DrillError(f"the full quota is not told: {ails}")
        bench.tell(f"{ails[0]}; the writer hears: {refused}")
        begun = time.monotonic()
        defrag(bench.session.remote, bench.info, "main", bench.tell)
        bench.writes(3)
        seconds = time.monotonic() - begun
        left = max(member.db_bytes or 0 for member in bench.look("main").members)
        if left > used + ROOM_BYTES / 2:
            raise DrillError(
                f"writes go on, but {left:,} of {limit:,} bytes are in use still: old revisions were not dropped"
            )
    finally:
        configure(bench, saved)
        bench.ctl.say(bench.etcd[0], "main", "del", FILLER)
    quota = {member.quota_bytes for member in bench.look("main").members}
    if quota != {json.loads(text)["quota-backend-bytes"] for text in saved.values()}:
        raise DrillError(f"the quota is not what it was: {quota}")
    return Outcome(seconds, {"quota_bytes": limit, "told": ails[0], "refused": refused})


def limited(config: str, limit: int) -> str:
    return json.dumps({**json.loads(config), "quota-backend-bytes": limit}, indent=2, sort_keys=True) + "\n"


def configure(bench: Bench, texts: dict[str, str]) -> None:
    """Writes the members' configuration, one after the other, each healthy before the next, though it be full."""

    def well() -> bool:
        return not [ail for ail in bench.look("main").ails(bench.info.etcd) if NOSPACE not in ail]

    for name, text in texts.items():
        write(bench.steps, name, CONFIG, text)
        bench.steps.do(name, "restarting etcd main", "systemctl", "restart", "etcd-main.service")
        bench.until(well, f"etcd main is not healthy since the restart of {name}")


def fill(bench: Bench) -> None:
    """One key, again and again: all but the last are old revisions. Raises DrillError."""
    here = f"--endpoints=https://127.0.0.1:{RING['main'].client_port}"
    put = " ".join(["/usr/local/bin/etcdctl", here, *CREDENTIAL, "put", FILLER])
    script = f"head -c {PIECE_BYTES} /dev/zero | tr '\\0' x > /tmp/filler; " + (
        f"for n in $(seq 60); do {put} < /tmp/filler || exit 9; done"
    )
    result = bench.steps.ask(bench.etcd[0], "sh", "-c", f"{script}; rm -f /tmp/filler", seconds=120)
    if result.code != 9 or "database space exceeded" not in result.err:
        raise DrillError(f"the ring could not be filled: {result.why}")
