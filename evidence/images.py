"""Why an image can't be had, from containerd's words. Pure."""

import re

# What is refined by the words.
CODE = "image"
# The first that fits.
WORDS = (
    (
        r"InvalidImageName|ErrImageNeverPull|not found|manifest unknown|name unknown|does not exist|invalid reference",
        "image-name",
    ),
    (
        r"unauthorized|authentication required|authorization failed|denied|forbidden|\b40[13]\b|no basic auth",
        "image-rights",
    ),
    (
        r"dial tcp|i/o timeout|no such host|connection refused|TLS|x509|unreachable|deadline exceeded|EOF|\b5\d\d\b",
        "image-network",
    ),
)


def code(text: str) -> str:
    """`image` where the words are of no known kind, as those of a pull that is tried again later."""
    return next((code for pattern, code in WORDS if re.search(pattern, text, re.IGNORECASE)), CODE)
