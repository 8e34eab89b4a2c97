"""What a run asks the clouds while the engine previews: whether they offer its machine types, and their quotas."""

import time
from collections.abc import Collection
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Self

from landbridge.quotas import read
from landbridge.quotas.table import Table
from landbridge.shapes import check, clients

from .run_context import RunContext


class Asking:
    """Beside the previews, so that nobody waits for it; `end` waits for what is not there by then.

    `same` are stacks that nothing has changed for. `table` has the quotas, where somebody has asked for them.
    """

    def __init__(self, run: RunContext, same: Collection[str], *, destroy: bool) -> None:
        self.run = run
        self.table: Table | None = None
        self.local = run.place.world == "local"
        self.pool = ThreadPoolExecutor(2)
        # Those have their machines, or had them.
        stacks = [name for name in run.stacks if name not in same]
        stacks = [] if destroy or check.SHAPES in run.how.ignored else stacks
        self.shapes = self.pool.submit(self._shapes, stacks) if stacks else None
        wanted = run.how.check_quotas and not destroy
        self.quotas: Future[Table] | None = self.pool.submit(self._quotas) if wanted else None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.pool.shutdown(wait=False, cancel_futures=True)

    def end(self) -> None:
        """Raises FleetError for machine types that a cloud does not offer as the fleet file has them."""
        if self.run.interrupted:
            return
        if self.shapes:
            self.run.notes += self.shapes.result()
        if self.quotas:
            self.table = self.quotas.result()

    @property
    def refusals(self) -> list[str]:
        return self.table.refusals() if self.table else []

    def _shapes(self, stacks: list[str]) -> list[str]:
        world = self.run.world
        return check.of_stacks(world, stacks, clients.signed_in(world.fleet, local=self.local))

    def _quotas(self) -> Table:
        fleet = self.run.world.fleet
        return read.table(fleet, read.signed_in(fleet, local=self.local), time.time())
