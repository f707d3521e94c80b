"""The prompt that asks for the repair of one divergence."""

from __future__ import annotations

import textwrap
from collections.abc import Callable

from harness.session.prompts.template import fill, load
from harness.task.contract import Module, Task
from harness.verdict import Divergence
from harness.verify.explain import CONTRACT, as_data, describe

WIDTH = 96


def repair_prompt(
    divergence: Divergence,
    task: Task,
    *,
    reproduce: str,
    verify: str,
    shown: str | None = None,
    uri: Callable[[str], str] | None = None,
) -> str:
    """The prompt that asks for the repair of one divergence.

    Args:
        reproduce: the command that plays the failing case on both sides.
        verify: the command that verifies again.
        shown: what takes the description's place where the reader has it already.
        uri: the resource of a place in the reference, for a reader who has the server and no files.
    """
    module = next((m for m in task.modules if m.name == divergence.module), None)
    return fill(
        load("repair").body,
        {
            "task": task.name,
            "level": str(divergence.level),
            "entry": task.candidate.entry,
            "divergence": as_data(describe(divergence) if shown is None else shown),
            "reproduce": reproduce,
            "module": f"module `{module.name}`" if module else "the rule at that step",
            "source": _source(task, module, uri),
            "hint": _hint(divergence),
            "verify": verify,
        },
    )


def _source(task: Task, module: Module | None, uri: Callable[[str], str] | None) -> str:
    locations = module.source if module else tuple(location for m in task.modules for location in m.source)
    if not locations:
        return "task.toml names no places, begin at the adapter" + (f" ({uri('')} names the files)" if uri else "")
    return ", ".join(f"`{location}`" + (f" ({uri(location)})" if uri else "") for location in locations)


def _hint(divergence: Divergence) -> str:
    """Where to look, from what is known of this kind of difference."""
    text = next((text for applies, text in _HINTS if applies(divergence)), _ANY_HINT)
    return textwrap.fill(text, width=WIDTH, subsequent_indent="   ")


_ANY_HINT = "What is known of it stands above; begin at the first timestep at which the two sides part."
_HINTS = (
    (
        lambda d: d.check == CONTRACT,
        "The candidate cannot be asked anything yet: its functions do not have the form that the task demands. Mend all "
        "that is listed at once; nothing of this concerns the rules of the environment.",
    ),
    (
        lambda d: d.rule == "law",
        "The values that the candidate was handed are computed on rightly; its own sampler (`sample_reset`, `sample_step`) "
        "draws from another law. Look for wrong bounds, a key that is used twice, one number used for several.",
    ),
    (
        lambda d: d.rule == "equivalence",
        "No single episode was found to differ, and yet policies are not worth the same. Look at what a training meets "
        "and such an episode does not: the batch that restarts by itself, its terminal observations, the candidate's "
        "own draws.",
    ),
    (
        lambda d: d.rule == "draws",
        "The candidate consumed other chance events than the reference: compare when each side draws, and in what order.",
    ),
    (
        lambda d: d.rule == "autoreset",
        "Stepped alone the candidate is right; the batch that users train on is not. Look at what survives from one episode "
        "into the next, and at the terminal observation.",
    ),
    (
        lambda d: d.rule == "restored",
        "From states of the reference the candidate steps rightly, and from those that it comes to by itself it does not. "
        "Look at every field of its state that `encode` leaves out or `decode` makes up, at how `step` carries it on, and "
        "at what depends on the last bits of a state.",
    ),
    (
        lambda d: d.rule == "exported",
        "Verified it is one environment, and for those who import the exported package another. Look for what depends on "
        "where the code lies, on which modules are loaded, on variables of the environment, or on files beside it.",
    ),
    (
        lambda d: d.rule in ("determinism", "batched", "scanned"),
        "The candidate disagrees with itself. Look for state outside the pytree, for values that depend on the batch or on "
        "the order of calls, and for Python control flow over traced values.",
    ),
    (
        lambda d: d.rule in ("dtype", "shape", "missing", "unexpected"),
        "This is a matter of form, not of a rule: compare the leaf with its declaration in task.toml.",
    ),
    (
        lambda d: d.rule.startswith("invariant:"),
        "The reference keeps this invariant in the very same case: find the first timestep at which the trajectories part.",
    ),
    (
        lambda d: d.reproduced is False,
        "From the reference's state just before, the candidate steps rightly. So it carries something from step to step "
        "that the canonical state does not hold: look at every field of its state that `encode` leaves out, how `reset` "
        "begins it and how `step` carries it on.",
    ),
    (
        lambda d: d.step == 0 and d.probe is None,
        "The reset itself differs: nothing has been stepped yet.",
    ),
    (
        lambda d: d.probe is not None,
        "The module's probe alone shows it, so the rest of the step has no part in it.",
    ),
    (
        lambda d: d.reproduced is True,
        "One step from the reference's own state shows it, so its cause lies in that step, not in what came before.",
    ),
)
