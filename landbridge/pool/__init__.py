"""Sizes of pools by hand, rolls, and how pools are.

Files of one cloud alone, and why:
    azure/answers: the commands' words are those of AWS's Auto Scaling.
"""
