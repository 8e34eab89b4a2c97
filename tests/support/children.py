"""Words before a program's own: how it is to live, without Python between fork and exec.

A `preexec_fn` makes Python fork instead of vfork, and gRPC's handlers of forks run in the child: where one of its threads
was at work the program now and then never began (epoll_wait: Bad file descriptor). https://github.com/grpc/grpc/issues/43055
"""

# The kernel kills it when the thread that started it ends: start it in the main one.
DYING_WITH_US = ("setpriv", "--pdeathsig", "KILL", "--")
# A shell that runs the tests in the background makes its children deaf to it.
HEARING_INTERRUPTS = ("env", "--default-signal=INT")
