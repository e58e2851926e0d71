"""The directive `commands`: every command of the program, with its options folded, as the program itself describes them."""

from typing import Any

import library
import typer
from docutils import nodes
from members import Folded
from sphinx.util.docutils import SphinxDirective

from stairnoise.cli.commands import app as program


class Commands(SphinxDirective):
    """A section for each command."""

    def run(self) -> list[nodes.Node]:
        """Return the sections."""
        library.note(self.env, __file__)
        group: Any = typer.main.get_command(program)
        return [_section(name, command) for name, command in group.commands.items()]


def _section(name: str, command: Any) -> nodes.section:
    context = typer.Context(command, info_name=f"stairnoise {name}")
    # Otherwise two hyphens become a dash.
    section = nodes.section("", nodes.title("", name), ids=[name], names=[name], support_smartquotes=False)
    for text in command.help.split("\n\n"):
        label, colon, example = text.partition("For example: ")
        section += nodes.literal_block(f"$ {example}", f"$ {example}") if colon and not label else nodes.paragraph("", text)
    section += nodes.paragraph("", "", nodes.literal("", " ".join(["stairnoise", name, *command.collect_usage_pieces(context)])))
    panels: dict[str, nodes.definition_list] = {}
    for parameter in command.params:
        if record := parameter.get_help_record(context):
            term, text = record
            body = nodes.definition("", nodes.paragraph("", text))
            heading = getattr(parameter, "rich_help_panel", None) or f"{parameter.param_type_name}s".capitalize()
            panel = panels.setdefault(heading, nodes.definition_list())
            panel += nodes.definition_list_item("", nodes.term("", "", nodes.literal("", term)), body)
    section += [Folded("", options, summary=panel) for panel, options in panels.items()]
    return section


def setup(app: Any) -> dict[str, bool]:
    """Register the extension."""
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
