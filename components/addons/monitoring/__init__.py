"""Metrics and alarms: upstream's Prometheus, Alertmanager and exporters, in a namespace of their own."""
