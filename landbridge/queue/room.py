"""What queues and places have left, as Kueue counts it: everybody may see that, and others' runs nobody."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from components.addons.queues import OF_TEAMS
from fleet.model import TeamQueue

from .runs import Place, Room, Share


def room(queues: Sequence[Mapping[str, Any]], teams: Mapping[str, TeamQueue], capacity: Mapping[str, int]) -> Room:
    """`queues` are the ClusterQueues, each named after its team; `capacity` GPUs by place."""
    reserved, waiting = dict[str, Counter[str]](), Counter[str]()
    for queue in queues:
        name, status = queue["metadata"]["name"], queue.get("status") or {}
        reserved[name] = Counter(
            {
                one["name"]: sum(int(each["total"]) for each in one["resources"])
                for one in status.get("flavorsReservation") or []
            }
        )
        waiting[name] = int(status.get("pendingWorkloads") or 0)
    shares = [
        Share(team, own.gpus, own.borrows, reserved.get(team, Counter())[OF_TEAMS], waiting[team])
        for team, own in sorted(teams.items())
    ]
    places = [Place(place, gpus, sum(found[place] for found in reserved.values())) for place, gpus in capacity.items()]
    return Room(shares, places)
