"""Stacks' programs on the local cloud: each is a fork of one interpreter that has imported already what all need.

An interpreter that imports pulumi_aws and the stacks costs four seconds of a core, and a run starts one or two for each
stack, twice. `interpreter` starts the one, `server` is it, and `client` is what Pulumi finds as `bin/python`.
"""
