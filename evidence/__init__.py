"""What can be seen of a pod's end, and which cause that shows. Pure: the recorder sees by it, and `landbridge why`."""
