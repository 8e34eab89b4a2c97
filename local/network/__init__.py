"""The local cloud's network: a router for each network, hub and site, made from what the local AWS has."""
