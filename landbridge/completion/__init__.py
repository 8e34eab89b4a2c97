"""What a shell offers at Tab. It must be quick: nothing large is imported, no command, no cloud is asked."""
