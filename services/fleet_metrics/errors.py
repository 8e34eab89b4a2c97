"""What can go wrong with what the service is told, and with whom it asks. Each text says what and why."""


class SettingsError(Exception):
    """The settings are not what this service takes."""


class CloudError(Exception):
    """A cloud refused to answer, or did not."""
