"""People's laptops: a region's pair of OpenVPN servers, an authority of their own, and people's profiles."""
