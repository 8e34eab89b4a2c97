"""What is pinned, what is known to be weak in it, what a release is made of, and the release itself.

`make lock`, `make audit`, `make sbom` and `make release` call `python -m release`.
"""
