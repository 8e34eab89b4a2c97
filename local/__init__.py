"""The local cloud: stand-ins of clouds' control APIs, and machines, networks and kubelets that are real.

Files of one cloud alone, and why:
    aws/*: moto, with our extensions, is the AWS; these are what it needs around it.
    azure/*: nobody has built an Azure: all of its API is ours.
"""
