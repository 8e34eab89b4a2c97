"""What `landbridge demo` shows on the local cloud."""
