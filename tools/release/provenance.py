"""What a release was made of and by what: an in-toto statement with SLSA's provenance, and nothing of the moment in it.

https://github.com/in-toto/attestation/blob/main/spec/v1/statement.md, https://slsa.dev/spec/v1.0/provenance
"""

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

STATEMENT, PREDICATE = "https://in-toto.io/Statement/v1", "https://slsa.dev/provenance/v1"
BUILD_TYPE, BUILDER = "urn:landbridge:release:v1", "urn:landbridge:make-release"
# What decides what the files are, beside the commit's own text.
MATERIALS = (
    "requirements.lock",
    "services/requirements.lock",
    "tools/audit.lock",
    "tools/go.lock",
    "tools/toolchain.lock",
    "fleet/containers.lock",
)


def sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def statement(
    version: str, commit: str, repository: str | None, files: Iterable[Path], root: Path, tools: Mapping[str, str]
) -> dict[str, Any]:
    """`repository` is where the commit is published, if that was said; `tools` are versions of what builds."""
    git = {
        "name": "landbridge",
        "digest": {"gitCommit": commit},
        **({"uri": f"git+{repository}"} if repository else {}),
    }
    materials = [{"name": name, "digest": {"sha256": sha256(root / name)}} for name in MATERIALS]
    return {
        "_type": STATEMENT,
        "subject": [{"name": file.name, "digest": {"sha256": sha256(file)}} for file in sorted(files)],
        "predicateType": PREDICATE,
        "predicate": {
            "buildDefinition": {
                "buildType": BUILD_TYPE,
                "externalParameters": {"version": version, "commit": commit},
                "internalParameters": {"tools": dict(sorted(tools.items()))},
                "resolvedDependencies": [git, *materials],
            },
            "runDetails": {"builder": {"id": BUILDER}},
        },
    }
