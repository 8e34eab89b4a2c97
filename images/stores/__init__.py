"""Where images are published to, each by the same few calls."""
