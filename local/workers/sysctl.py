"""The sysctl of local machines: sets what is a machine's own, and leaves the rest, the laptop's kernel, as it is."""

import sys
from pathlib import Path

SETTINGS = Path("/proc/sys")
# A network namespace has its own; all else is the laptop's (namespaces(7), network_namespaces(7)).
OWN = "net."
USAGE = "sysctl --load=FILE"


def main(arguments: list[str] | None = None) -> int:
    given = sys.argv[1:] if arguments is None else arguments
    if len(given) != 1 or not given[0].startswith("--load="):
        sys.stderr.write(f"Local machines honour: {USAGE}\n")
        return 2
    try:
        wanted = read(Path(given[0].partition("=")[2]).read_text())
    except (OSError, ValueError) as error:
        sys.stderr.write(f"sysctl: {error}\n")
        return 1
    for name, value in wanted.items():
        sys.stdout.write(
            f"{name} = {value}" + ("\n" if set_(name, value) else ": left as the laptop's kernel has it\n")
        )
    return 0


def read(text: str) -> dict[str, str]:
    """NAME = VALUE, one a line (sysctl.d(5)). Raises ValueError."""
    found = {}
    for line in text.splitlines():
        name, equals, value = (part.strip() for part in line.partition("="))
        if not line.strip() or line.strip()[0] in "#;":
            continue
        if not equals or not name or "/" in name or ".." in name:
            raise ValueError(f"{line!r} is no NAME = VALUE")
        found[name] = value
    return found


def set_(name: str, value: str) -> bool:
    """False if it is not the machine's own to set."""
    place = SETTINGS / name.replace(".", "/")
    if not name.startswith(OWN) or not place.exists():
        return False
    try:
        place.write_text(value)
    except OSError:
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
