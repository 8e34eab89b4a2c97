"""Key Vault: the service behind NAME.vault.azure.net, over secrets that are resources of ARM."""
