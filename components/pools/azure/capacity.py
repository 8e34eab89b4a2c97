"""Keeps an update of a scale set from changing its size, which is the autoscaler's.

Pulumi's provider writes a resource of Azure whole, and what a program ignores as its state last knew it. Azure takes no
scale set without a size, and one that is too small ends machines. So a run reads sizes first (`landbridge up` does, by
itself), and what has changed since is an error, not a loss.
"""

import pulumi

GET, SIZE = "azure-native:compute:getVirtualMachineScaleSet", "sku.capacity"


class SizeError(Exception):
    """The text is for the user."""


def checked(name: str, planned: int, there: int) -> None:
    """Raises SizeError where an update would change the size of a set that has `there` machines to `planned`."""
    if planned != there:
        raise SizeError(
            f"{name} was sized meanwhile: it has {there} machines, and this run would make it {planned}. Nothing was "
            "changed of it. Run `landbridge up` again, or `pulumi up --refresh`, which read sizes first"
        )


def keep_capacity(group: str, name: str, parent: pulumi.Resource) -> pulumi.ResourceHookBinding:
    """For the scale set of this name in a resource group."""

    async def look(args: pulumi.ResourceHookArgs) -> None:
        at = {"resourceGroupName": group, "vmScaleSetName": name}
        # The last moment: Azure takes the whole set right after.
        there = await pulumi.runtime.invoke_async(GET, at, pulumi.InvokeOptions(parent=parent))
        planned, now = (args.new_inputs or {})["sku"], (there or {})["sku"]
        checked(name, int(planned.get("capacity") or 0), int(now.get("capacity") or 0))

    # In a preview, too: better told before anything was changed.
    options = pulumi.ResourceHookOptions(on_dry_run=True)
    return pulumi.ResourceHookBinding(before_update=[pulumi.ResourceHook(f"{name}-size", look, options)])
