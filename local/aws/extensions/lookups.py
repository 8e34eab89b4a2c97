"""What moto finds out anew for each call, and is the same for each: a tenth of what its server does."""

import functools

import moto.backends
import moto.core.responses


def install() -> None:
    """After all others have put their methods in."""
    modules = frozenset(moto.backends.list_of_moto_modules())  # of a folder
    moto.backends.list_of_moto_modules = lambda: modules
    named = functools.cache(moto.core.responses.method_names_from_class)
    moto.core.responses.method_names_from_class = named
