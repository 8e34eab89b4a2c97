"""What can go wrong with what the recorder is told, and with where it writes. Each text says what and why."""


class SettingsError(Exception):
    """The settings are not what this service takes."""


class StoreError(Exception):
    """The bucket refused, or did not answer."""


class ThereError(StoreError):
    """There is such an object already."""


class CloudError(Exception):
    """A cloud refused to say how its machines are, or did not answer."""
