"""What ends work on images early: one text for the user, which says what, where, why and what to do."""


class ImageError(Exception):
    """Told in full by its text. Nothing half-done is left behind where it is raised."""
