"""`python -m landbridge`, which is also how a command starts itself again inside the local cloud."""

from .cli import main

main()
