"""Values that a preview can't know yet, and policies must judge all the same."""

import asyncio

import pulumi

# Stand in where a preview can't know better yet: the id of a key, and a public key, too, of nobody.
NO_KEY = "00000000-0000-0000-0000-000000000000"
VERIFY_KEY = "MCowBQYDK2VwAyEA".ljust(59, "A") + "="


def known_in_preview(value: pulumi.Output[str], stand_in: str) -> pulumi.Output[str]:
    """`value`, for which `stand_in` stands in a preview that can't know it yet.

    For ids inside of texts that a policy reads, such as the ARN of what a preview would create: one unknown part makes
    a whole text unknown. An update always gets the value itself.
    """
    if not pulumi.runtime.is_dry_run():
        return value

    async def known_or_stand_in() -> str:
        return await value.future() or stand_in if await value.is_known() else stand_in

    known: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
    known.set_result(True)
    return pulumi.Output(value.resources(), asyncio.ensure_future(known_or_stand_in()), known, value.is_secret())


def known_key_arn(arn: pulumi.Input[str], region: str, account: str) -> pulumi.Output[str]:
    """A region's key, for policies that say who may use it."""
    return known_in_preview(pulumi.Output.from_input(arn), f"arn:aws:kms:{region}:{account}:key/{NO_KEY}")
