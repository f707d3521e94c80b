"""What an agent is given: templates with named slots, filled from a task and from where its session stands.

The templates are Markdown files in `prompts/`. Whatever a prompt quotes (sources, quirks, divergences) stands between marks
that it cannot contain itself, is capped, and cannot open a slot of its own.
"""

from harness.session.prompts.render import render
from harness.session.prompts.repair import repair_prompt
from harness.session.prompts.template import Argument, Template, fill, load, slots, templates

__all__ = ["Argument", "Template", "fill", "load", "render", "repair_prompt", "slots", "templates"]
