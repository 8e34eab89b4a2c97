"""The local cloud's machines: processes in namespaces of their own, with an init that runs their systemd units."""
