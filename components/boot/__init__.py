"""How a machine starts: user-data, bundles' contents, certificates, and who may log in.

Files of one cloud alone, and why:
    azure/image: AWS looks an image up itself, by a parameter's name, at every launch.
    azure/profile: a launch template of AWS has no such part: it is in each component's own lines.
"""
