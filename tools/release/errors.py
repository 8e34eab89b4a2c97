"""How these commands end: an exit status each, so that a nightly run tells a weakness from a silence."""

# Weaknesses were found; what was to be asked did not answer; anything else that is wrong.
FOUND, WRONG, SILENT = 1, 2, 3


class ReleaseError(Exception):
    """What is wrong, why, and what to do, in words for the user."""

    status = WRONG


class SilentSourceError(ReleaseError):
    """What was to be asked did not answer: nothing is known, and so nothing has passed."""

    status = SILENT
