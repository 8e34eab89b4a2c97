"""Whether files are CycloneDX 1.6, by the standard's own schema: run by the Python of tools/audit.lock."""

import sys
from pathlib import Path

from cyclonedx.schema import SchemaVersion  # type: ignore[import-not-found]
from cyclonedx.validation.json import JsonStrictValidator  # type: ignore[import-not-found]

if __name__ == "__main__":
    validator, wrong = JsonStrictValidator(SchemaVersion.V1_6), 0
    for name in sys.argv[1:]:
        if error := validator.validate_str(Path(name).read_text()):
            print(f"{name}: {error.data.message[:500]}")
            wrong = 1
    sys.exit(wrong)
