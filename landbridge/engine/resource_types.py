"""Which resource types are machines, volumes and tunnels: what a fleet's people would miss if it were gone."""

from typing import Literal, NamedTuple

Kind = Literal["machine", "volume", "tunnel"]
KINDS: tuple[Kind, ...] = ("machine", "volume", "tunnel")


class Precious(NamedTuple):
    """`counted_by` names the property that says how many stand behind one resource; None means one."""

    kind: Kind
    counted_by: str | None = None


PRECIOUS = {
    "aws:ec2/instance:Instance": Precious("machine"),
    "aws:autoscaling/group:Group": Precious("machine", "desiredCapacity"),
    "azure-native:compute:VirtualMachine": Precious("machine"),
    "azure-native:compute:VirtualMachineScaleSet": Precious("machine", "sku.capacity"),
    "aws:ebs/volume:Volume": Precious("volume"),
    "aws:efs/fileSystem:FileSystem": Precious("volume"),
    "aws:s3/bucket:Bucket": Precious("volume"),
    "azure-native:compute:Disk": Precious("volume"),
    "azure-native:storage:FileShare": Precious("volume"),
    "azure-native:storage:BlobContainer": Precious("volume"),
    "aws:ec2/vpnConnection:VpnConnection": Precious("tunnel"),
    "aws:ec2transitgateway/peeringAttachment:PeeringAttachment": Precious("tunnel"),
    "azure-native:network:VirtualNetworkGatewayConnection": Precious("tunnel"),
    "azure-native:network:VirtualNetworkPeering": Precious("tunnel"),
}
