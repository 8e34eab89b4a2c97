"""How an extension takes its place in moto: as a subclass would, but in the class that moto already uses."""

import functools
from collections.abc import Callable
from typing import Any


def override(owner: type, name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Replaces a method; the new one gets the old one, bound, as its first argument after self."""
    original = getattr(owner, name)

    def install(method: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def wrapper(self: Any, *args: Any, **kwargs: Any) -> Any:
            return method(self, original.__get__(self), *args, **kwargs)

        setattr(owner, name, wrapper)
        return method

    return install


def add(owner: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Adds a method that moto does not have yet; a newer moto that has it makes this an error, so that we notice."""

    def install(method: Callable[..., Any]) -> Callable[..., Any]:
        if method.__name__ in vars(owner):
            raise RuntimeError(f"moto now has {owner.__name__}.{method.__name__}: drop our extension")
        setattr(owner, method.__name__, method)
        return method

    return install
