"""EFS calls that moto lacks: UpdateFileSystem, PutBackupPolicy, DeleteFileSystemPolicy (EFS API reference).

And a mount target's refusals in EFS's own words: NoFreeAddressesInSubnet, IpAddressInUse (CreateMountTarget).
"""

import json
from typing import Any

from moto.core.utils import get_service_model
from moto.ec2.exceptions import EC2ClientError
from moto.efs.exceptions import EFSError, FileSystemNotFound
from moto.efs.models import EFSBackend
from moto.efs.responses import EFSResponse

from .patching import add, override

JSON = {"Content-Type": "application/json"}
# EC2's code → EFS's.
SAID = {
    "InsufficientFreeAddressesInSubnet": "NoFreeAddressesInSubnet",
    "InvalidIPAddress.InUse": "IpAddressInUse",
    "InvalidParameterValue": "BadRequest",
}


def efs_error(code: str, message: str) -> Exception:
    """With the HTTP status of the API's model, which differs from error to error."""
    error: Exception = EFSError(code, message)
    status = get_service_model("efs").shape_for(code).metadata["error"]["httpStatusCode"]
    vars(error)["code"] = status
    return error


def install() -> None:
    """Adds the calls."""
    _mount_targets()
    _backend()
    _responses()


def _mount_targets() -> None:
    @override(EFSBackend, "create_mount_target")
    def create_mount_target(
        self: Any, original: Any, file_system_id: str, subnet_id: str, *args: Any, **given: Any
    ) -> Any:
        try:
            return original(file_system_id, subnet_id, *args, **given)
        except EC2ClientError as error:
            if error.code not in SAID:
                raise
            # moto has put it into the file system before it looks for an address.
            self.file_systems_by_id[file_system_id].remove_mount_target(self.ec2_backend.get_subnet(subnet_id))
            raise efs_error(SAID[error.code], error.message) from None


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
