"""Who may do what in the local AWS: policies of buckets, keys, secrets and roles, judged as IAM judges them."""
