"""What every machine of ours in Azure is started with, one by itself and those of scale sets alike; as plain data."""

from typing import Any

# Of the account that Azure wants on every machine. Nobody has a key of its own there.
ADMIN = "landbridge"
# All images of the gallery take Trusted Launch; not all sizes with GPUs do. Nobody's key signs our boot loader.
TRUSTED = {"security_type": "TrustedLaunch", "uefi_settings": {"secure_boot_enabled": False, "v_tpm_enabled": True}}
# What a machine says while it starts, for people; kept by Azure itself.
DIAGNOSTICS = {"boot_diagnostics": {"enabled": True}}


def os_profile(script: Any, admin_key: Any) -> dict[str, Any]:
    """But for the machine's name. `script` is the boot stub in base64.

    `admin_key` is a public line of SSH: Azure makes no account without one. It is the key that signs the machine's
    bundle, whose holder is root there anyway; and sshd takes no key of this account.
    """
    return {
        "admin_username": ADMIN,
        "custom_data": script,
        # Our images have no agent of Azure's.
        "allow_extension_operations": False,
        "linux_configuration": {
            "disable_password_authentication": True,
            "provision_vm_agent": False,
            "ssh": {"public_keys": [{"path": f"/home/{ADMIN}/.ssh/authorized_keys", "key_data": admin_key}]},
        },
    }


def os_disk(gib: int) -> dict[str, Any]:
    """The root; it ends with its machine."""
    return {
        "create_option": "FromImage",
        "caching": "ReadWrite",
        "disk_size_gb": gib,
        "managed_disk": {"storage_account_type": "Premium_LRS"},
    }
