"""`landbridge why`: the cause of a pod's end, or of its waiting."""
