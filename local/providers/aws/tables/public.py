"""Public addresses of machines: which interface has one."""

from ..kinds import ID, Call, Kind, P, props, replaces, same_paths

ASSOCIATION = Kind(
    service="ec2",
    create=Call(
        "associate_address", props("allocationId", "networkInterfaceId", "allowReassociation"), "AssociationId"
    ),
    read=Call(
        "describe_addresses",
        {"AllocationIds": [P("allocationId")]},
        "Addresses[?AssociationId=='$id'] | [0]",
    ),
    delete=(Call("disassociate_address", {"AssociationId": ID}),),
    outputs=same_paths("allocationId", "networkInterfaceId", "publicIp", "privateIpAddress"),
    replace=replaces("allocationId", "networkInterfaceId"),
    delete_first=True,  # an interface's first address has one public address at a time
    missing=("InvalidAssociationID.NotFound", "InvalidAllocationID.NotFound"),
)

KINDS = {"aws:ec2/eipAssociation:EipAssociation": ASSOCIATION}
