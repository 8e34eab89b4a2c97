"""IAM Roles Anywhere becomes one of moto's services; local/aws/rolesanywhere is what it does."""

import re
import sys

from moto import backend_index

from ..rolesanywhere import models, urls


def install() -> None:
    """Where moto looks for its own; a newer moto that has the service makes this an error, so that we notice."""
    if any(name == models.SERVICE for name, _ in backend_index.backend_url_patterns):
        raise RuntimeError("moto now has IAM Roles Anywhere: drop our extension")
    sys.modules[f"moto.{models.SERVICE}"] = models
    backend_index.backend_url_patterns.append((models.SERVICE, re.compile(urls.url_bases[0])))
