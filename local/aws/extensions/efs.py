"""EFS calls that moto lacks: UpdateFileSystem, PutBackupPolicy, DeleteFileSystemPolicy (EFS API reference)."""

import json
from typing import Any

from moto.efs.exceptions import FileSystemNotFound
from moto.efs.models import EFSBackend
from moto.efs.responses import EFSResponse

from .patching import add

JSON = {"Content-Type": "application/json"}


def install() -> None:
    _backend()
    _responses()


def _backend() -> None:
    @add(EFSBackend)
    def put_backup_policy(self: Any, file_system_id: str, status: str) -> dict[str, str]:
        _system(self, file_system_id)._backup = status in ("ENABLED", "ENABLING")
        return {"Status": status}

    @add(EFSBackend)
    def update_file_system(self: Any, file_system_id: str, mode: str | None, mibps: float | None) -> Any:
        system = _system(self, file_system_id)
        system.throughput_mode = mode or system.throughput_mode
        if mibps is not None or system.throughput_mode != "provisioned":
            system.provisioned_throughput_in_mibps = mibps
        return system

    @add(EFSBackend)
    def delete_file_system_policy(self: Any, file_system_id: str) -> None:
        _system(self, file_system_id).file_system_policy = None


def _responses() -> None:
    @add(EFSResponse)
    def put_backup_policy(self: Any) -> Any:
        policy = self._get_param("BackupPolicy")
        made = self.efs_backend.put_backup_policy(self._get_param("FileSystemId"), policy["Status"])
        return json.dumps({"BackupPolicy": made}), JSON

    @add(EFSResponse)
    def update_file_system(self: Any) -> Any:
        mode, mibps = self._get_param("ThroughputMode"), self._get_param("ProvisionedThroughputInMibps")
        system = self.efs_backend.update_file_system(self._get_param("FileSystemId"), mode, mibps)
        return json.dumps(system.info_json()), {**JSON, "status": 202}

    @add(EFSResponse)
    def delete_file_system_policy(self: Any) -> Any:
        self.efs_backend.delete_file_system_policy(self._get_param("FileSystemId"))
        return json.dumps({}), JSON


def _system(backend: Any, file_system_id: str) -> Any:
    if file_system_id not in backend.file_systems_by_id:
        raise FileSystemNotFound(file_system_id)
    return backend.file_systems_by_id[file_system_id]
