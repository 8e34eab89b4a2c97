"""An NFS server and client in user space: the kernel's own need not be there, and know nothing of namespaces."""

import subprocess
import sys
from pathlib import Path

from .machines import Machine, awaited

# Both live in a machine's own memory, which has file handles.
SHARE, STATE, CONFIG = "/run/share", "/run/ganesha", "/run/ganesha.conf"
EXPORT = "/share"
SERVER, PORT = "/usr/bin/ganesha.nfsd", 2049
CLIENT = (sys.executable, "-I", str(Path(__file__).with_name("nfs_client.py")))
LIFE_SECONDS, CLIENT_SECONDS, READY_SECONDS = 900.0, 150.0, 30.0
# libnfs 4.0 speaks 4.0 of version 4 alone.
GANESHA = f"""
NFS_CORE_PARAM {{ Protocols = 4; NFS_Port = {PORT}; Enable_NLM = false; Enable_RQUOTA = false; }}
NFSV4 {{ Minor_Versions = 0; Graceless = true; RecoveryBackend = fs; RecoveryRoot = {STATE}; }}
EXPORT {{
    Export_Id = 1; Path = {SHARE}; Pseudo = {EXPORT}; Access_Type = RW; Squash = No_Root_Squash; SecType = sys;
    FSAL {{ Name = VFS; }}
}}
"""


def serve(machine: Machine) -> None:
    """Raises LabError when it does not listen."""
    machine.write({CONFIG: GANESHA})
    machine.run("mkdir", "-p", SHARE, STATE)
    machine.start(SERVER, "-F", "-f", CONFIG, "-L", "/run/ganesha.log", "-p", "/run/ganesha.pid", seconds=LIFE_SECONDS)
    awaited("the NFS server", lambda: bool(machine.run("ss", "-Htln", f"sport = :{PORT}").strip()), READY_SECONDS)


def writing(machine: Machine, server: str, name: str, seconds: float) -> "subprocess.Popen[bytes]":
    """For so long, then all is read again; it says what became of it (`nfs_client`)."""
    words = (*CLIENT, server, EXPORT, name, f"{seconds:g}")
    return machine.start(*words, seconds=CLIENT_SECONDS, out=subprocess.PIPE)


def digest(machine: Machine, name: str) -> str:
    """Of a file where the server keeps it."""
    return machine.run("sha256sum", f"{SHARE}/{name}").split()[0]
