"""`landbridge completion`: Tab in a shell."""

import click

from landbridge.completion import answer

SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Prints what makes Tab complete commands, options and the names of your fleet in SHELL.

    For this shell: `source <(landbridge completion bash)`. For every one that line stands in ~/.bashrc or ~/.zshrc; for
    fish `landbridge completion fish > ~/.config/fish/completions/landbridge.fish`.
    """
    click.echo(answer.script(shell), nl=False)
