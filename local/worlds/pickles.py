"""All that there is as one file, with what pickle does not know.

That is locks, keys, times of C's, functions without a name, and large contents: each of those lies in a file of its
own, named by its SHA-256, and is written once.
"""

import hashlib
import importlib
import io
import marshal
import pickle
import tempfile
import threading
from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from types import CellType, FunctionType
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_der_private_key,
)

from .moment import REAL, Datetime

LARGE_BYTES = 64 << 10
LOCK, RLOCK = type(threading.Lock()), type(threading.RLock())
Reducer = Callable[[Any, "Contents"], Any]


class Contents:
    """A folder of them; `used` are those that were put or asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.used: set[str] = set()

    def put(self, data: bytes) -> str:
        """Its name."""
        name = hashlib.sha256(data).hexdigest()
        self.used.add(name)
        file = self.folder / name
        if not file.exists():
            self.folder.mkdir(mode=0o700, exist_ok=True)
            draft = file.with_suffix(".new")
            draft.touch(mode=0o600)
            draft.write_bytes(data)
            draft.rename(file)
        return name

    def get(self, name: str) -> bytes:
        return (self.folder / name).read_bytes()

    def clean(self) -> None:
        """Removes all others."""
        for file in self.folder.glob("*"):
            if file.name not in self.used:
                file.unlink()


def dumps(what: Any, contents: Contents, reducers: Mapping[type, Reducer]) -> bytes:
    """Raises pickle.PicklingError or TypeError for what can't be kept."""
    out = io.BytesIO()
    _Pickler(out, contents, reducers).dump(what)
    return out.getvalue()


def loads(data: bytes, contents: Contents) -> Any:
    return _Unpickler(io.BytesIO(data), contents).load()


class _Pickler(pickle.Pickler):
    def __init__(self, out: io.BytesIO, contents: Contents, reducers: Mapping[type, Reducer]) -> None:
        super().__init__(out, protocol=5)
        self.contents, self.reducers = contents, {**REDUCERS, **reducers}

    def persistent_id(self, one: Any) -> Any:
        return self.contents.put(one) if type(one) is bytes and len(one) >= LARGE_BYTES else None

    def reducer_override(self, one: Any) -> Any:
        reducer = self.reducers.get(type(one))
        if reducer is not None:
            return reducer(one, self.contents)
        if isinstance(one, FunctionType) and "<locals>" in one.__qualname__:
            cells = tuple(cell.cell_contents for cell in one.__closure__ or ())
            return _function, (one.__module__, marshal.dumps(one.__code__), one.__defaults__, cells)
        if isinstance(one, defaultdict) and type(one) is not defaultdict:
            return _mapping, (type(one), one.default_factory), vars(one), None, iter(dict.items(one))
        if isinstance(one, RSAPrivateKey | EllipticCurvePrivateKey):
            return _key, (one.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption()),)
        return NotImplemented


class _Unpickler(pickle.Unpickler):
    def __init__(self, data: io.BytesIO, contents: Contents) -> None:
        super().__init__(data)
        self.contents = contents

    def persistent_load(self, name: str) -> bytes:
        return self.contents.get(name)


def _function(module: str, code: bytes, defaults: Any, cells: tuple[Any, ...]) -> Any:
    """One without a name of its own, such as a defaultdict's: of the same program as it was."""
    names = vars(importlib.import_module(module))
    return FunctionType(marshal.loads(code), names, None, defaults, tuple(CellType(one) for one in cells))  # noqa: S302


def _mapping(kind: type, factory: Any) -> Any:
    """A subclass's, whose __init__ may want other things."""
    made: Any = kind.__new__(kind)  # type: ignore[call-overload]
    defaultdict.__init__(made, factory)
    return made


def _key(data: bytes) -> Any:
    return load_der_private_key(data, None)


def _spooled(data: bytes, size: int) -> Any:
    file = tempfile.SpooledTemporaryFile(max_size=size)  # noqa: SIM115 - lives with what has it
    file.write(data)
    return file


def _read(file: Any) -> bytes:
    at = file.tell()
    file.seek(0)
    data: bytes = file.read()
    file.seek(at)
    return data


REDUCERS: dict[type, Reducer] = {
    LOCK: lambda *_: (threading.Lock, ()),
    RLOCK: lambda *_: (threading.RLock, ()),
    REAL: lambda one, _: (Datetime, one.__reduce_ex__(2)[1]),
    x509.Certificate: lambda one, _: (x509.load_der_x509_certificate, (one.public_bytes(Encoding.DER),)),
    tempfile.SpooledTemporaryFile: lambda one, _: (_spooled, (_read(one), one._max_size)),
}
