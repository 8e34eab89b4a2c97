"""Events of the cluster: those that show something, and of one that repeats itself the last of each minute."""

from evidence.events import of_event
from evidence.observation import Json

from .book import Book


class Happenings:
    """One thread calls it. Events go by themselves after an hour: their end says nothing."""

    def __init__(self, book: Book) -> None:
        self.book = book

    def listed(self, found: list[str]) -> None:
        """They are in the book already."""

    def keep(self, event: Json) -> str:
        self.changed("ADDED", event)
        return ""

    def changed(self, change: str, event: Json) -> None:
        if change != "DELETED" and (one := of_event(event)):
            self.book.add(one, ("event", event["metadata"]["uid"]), urgent=one.about.startswith("pod/"))
