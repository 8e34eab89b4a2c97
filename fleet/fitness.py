"""Whether a host is fit for work that begins: where it is asked, and what its Node has of it."""

# Of each node, on its own address; pods of the same node ask.
PORT, PATH = 8098, "/look"
# A condition of the Node; while it is True no new work comes to it (services/maintenance/announcements.py).
CONDITION = "HostUnfit"
# Those of a Node by which it is no place to begin: also what follows its kernel's log has some.
CONDITIONS = (CONDITION, "GPUUnhealthy", "ReadonlyFilesystem", "XfsShutdown", "KernelDeadlock")
# A host looks by itself so often, too.
EACH_SECONDS = 60.0
# How a run's first container ends on an unfit host: the run begins elsewhere, and that is no failure of its own.
EXIT_CODE = 75
