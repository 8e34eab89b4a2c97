"""What moto lacks or gets wrong where Landbridge depends on it, one topic a file, each fit to go upstream."""

from . import autoscaling, calls, efs, flow_logs, interfaces, limits, vpn


def install() -> None:
    """Puts every extension into moto; call once, before the first request."""
    for extension in (autoscaling, calls, efs, flow_logs, interfaces, limits, vpn):
        extension.install()
