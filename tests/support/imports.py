"""`python -m tests.support.imports MODULE…`: imports modules, and prints which packages that are not ours came with them."""

import importlib
import json
import sys

if __name__ == "__main__":
    for module in sys.argv[1:]:
        importlib.import_module(module)
    print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules} - sys.stdlib_module_names)))  # noqa: T201
