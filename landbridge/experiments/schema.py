"""The JSON Schema of run.yaml, for editors: `python -m landbridge.experiments.schema` prints it, docs/ holds a copy."""

import sys

from fleet.schema import of, render

from .spec import FILE, Run


def text() -> str:
    return render(of(FILE, Run))


if __name__ == "__main__":
    sys.stdout.write(text())
