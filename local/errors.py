"""What ends work with the local cloud early. Imports nothing, so that every command can know it."""


class LocalCloudError(Exception):
    """The local cloud did not start or stop. The text says why, and where its log lies."""


class NamespaceError(Exception):
    """The kernel or the container forbids it, or util-linux is missing. The text says what to do."""


class SavedWorldError(Exception):
    """A world cannot be saved or loaded. The text says why and what to do."""
