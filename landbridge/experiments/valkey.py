"""A run's own Valkey: a part of it, which is born and ends with it. Pure."""

from .templates import Part

NAME, IMAGE, PORT = "redis", "docker.io/valkey/valkey:8.1.4", 6379
# Told to end, Valkey ends well, and its Job would be done: the run would go on without it. So its end is a failure,
# however it comes; when the run itself has ended, JobSet asks no more.
SERVES = """\
trap 'kill $server; wait $server; exit 1' TERM
valkey-server "$@" & server=$!
wait $server
exit 1
"""


def part() -> Part:
    """`REDIS_PASSWORD` is a variable of its host."""
    options = ["--port", str(PORT), "--save", "", "--requirepass", "$(REDIS_PASSWORD)"]
    return Part(hosts=1, gpus="none", command=["sh", "-c", SERVES.replace("$", "$$"), NAME, *options])
