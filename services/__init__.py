"""What runs in clusters, from one image.

Files of one cloud alone, and why:
    azure/identity: a role of AWS keeps its name when it is made anew.
"""
