"""How results look to a person: aligned tables without frames, one colour for each outcome, the difference in bold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from harness.grids import WIDTH, Grid
from harness.occurrences import NEVER, told
from harness.verdict import LEVEL_NAMES, CheckResult, Divergence, LevelReport, Outcome, Verdict
from harness.verify.explain import facts

if TYPE_CHECKING:
    from harness.assurance.audit import AuditReport, Row
    from harness.cli.doctor import Item
    from harness.verify.side_by_side import SideBySide

COLOURS = {
    "PASS": "green",
    "FAIL": "bold red",
    "ERROR": "bold magenta",
    "INCONCLUSIVE": "bold yellow",
    "SKIPPED": "yellow",
}
SHOWN_ROWS = 24


def grid(*columns: str, header: Sequence[str] = (), unbroken: bool = True) -> Table:
    """A table without frames; each column is `left` or `right`.

    Only the last column is broken into lines. In a narrow terminal the others are cut then, which nothing that matters
    may be: `unbroken` False breaks them too.
    """
    table = Table(box=None, pad_edge=False, show_header=bool(header), header_style="dim", padding=(0, 2, 0, 0))
    for number, justify in enumerate(columns):
        table.add_column(
            header[number] if header else "",
            justify="right" if justify == "right" else "left",
            no_wrap=unbroken and number < len(columns) - 1,
            overflow="fold",
        )
    return table


def indented(part: RenderableType) -> Padding:
    """A part moved in by two columns."""
    return Padding(part, (0, 0, 0, 2), expand=False)


def said(headline: str, style: str, rest: str = "") -> Text:
    """A line whose beginning stands out."""
    return Text.assemble((headline, style), rest)


def outcome_text(outcome: str) -> Text:
    """An outcome in its colour."""
    return Text(outcome, COLOURS.get(outcome, ""))


def verdict(judged: Verdict) -> Iterator[RenderableType]:
    """A verdict: a line for each level, the checks that did not pass, and what could not be checked."""
    table = grid("left", "left", "left", "right", "left")
    for report in judged.reports:
        name = LEVEL_NAMES.get(report.level, "")
        table.add_row(
            f"level {report.level}",
            name + (f", module {report.module}" if report.module else ""),
            outcome_text(str(report.outcome)),
            f"{report.duration_s:.1f} s",
            _compared(report),
        )
    yield table
    for report in judged.reports:
        if report.transfer is not None:
            yield indented(transfer(report.transfer))
        yield from (indented(line) for line in _remarks(report))
    if judged.gpu:
        yield Text(f"The candidate computed on {judged.gpu}. A GPU rounds floats in its own way.", "dim")
    if judged.error:
        yield Text("could not be judged: " + judged.error, "magenta")
    if not judged.isolated:
        yield Text(
            f"The candidate ran in the sandbox `{judged.sandbox}`, which sets limits but does not isolate.", "yellow"
        )


def coverage(shown: Mapping[str, Any]) -> Iterator[RenderableType]:
    """What a session's levels reached of the reference so far, a line each."""
    for line in shown["summary"]:
        yield indented(Text(line, "yellow" if line.startswith("not measured") or "never" in line else "dim"))


def checks(results: Sequence[CheckResult]) -> RenderableType:
    """A table of named checks."""
    table = grid("left", "left", "right", "left")
    for check in results:
        table.add_row(
            outcome_text(str(check.outcome)), Text(check.name), f"{check.examples or ''}", Text(check.detail, "dim")
        )
    return table


def transfer(measured: Mapping[str, Any]) -> RenderableType:
    """What level 4 compared, beside its margin and the noise of the reference itself."""
    table = grid("left", "left", "right", "right", "right", header=("", "", "difference", "interval", "trainings"))
    colours = {"equivalent": "green", "different": "bold red", "undecided": "bold yellow"}
    for row in measured["comparisons"]:
        low, high = row["interval"]
        interval = "the same episodes" if row["identical"] else f"{low:.4g} to {high:.4g}"
        decision = Text(row["decision"], colours[row["decision"]])
        alike = 0 if row["identical"] else row.get("same_policies", 0)
        trainings = f"{row['trainings']}{f', {alike} the same bit by bit' if alike else ''}"
        table.add_row(row["name"], decision, f"{row['difference']:+.4g}", interval, trainings)
    lines: list[RenderableType] = [table]
    played = [row for row in measured.get("results", []) if row["played_in"] == "reference"]
    if played:
        lines.append(results(played, "trained_in"))
    lines.append(Text(f"margin {measured['margin']:g}: {measured['because']}", "dim"))
    floor = measured.get("noise_floor")
    if floor is not None:
        text = (
            f"noise floor: trainings in the reference differ by {floor['spread']:.4g} (standard deviation), so that "
            f"{floor['trainings']} pairs that go ways of their own can be shown to be equal within {floor['half_width']:.4g}"
        )
        lines.append(Text(text, "dim"))
        if not floor["decidable"] and any(row["decision"] == "undecided" for row in measured["comparisons"]):
            text = (
                "the margin lies below the noise floor: equality shows only where trainings from one seed stay together"
            )
            lines.append(Text(text, "yellow"))
    return Group(*lines)


def results(rows: Iterable[Mapping[str, Any]], first: str = "") -> RenderableType:
    """How often policies won, drew and lost, with 95% intervals; before that, if asked, one more entry of each row."""
    ways = ("won", "drawn", "lost")
    before = [first] if first else []
    header = (*(name.replace("_", " ") for name in before), "as", "against", *ways, "episodes")
    table = grid(*["left"] * (len(before) + 2), *["right"] * 4, header=header)
    for row in rows:
        shares = [f"{100 * row[name]['share']:.0f}% ({_percent(row[name]['interval_95'])})" for name in ways]
        place = [*(row[name] for name in before), row["player"], row["opponent"]]
        table.add_row(*(Text(str(each)) for each in place), *shares, str(row["episodes"]))
    return table


def _percent(interval: Sequence[float]) -> str:
    return f"{100 * interval[0]:.0f} to {100 * interval[1]:.0f}"


def divergence(found: Divergence) -> RenderableType:
    """Everything that is known of one difference."""
    table = grid("left", "left")
    styles = {"expected": "green", "actual": "red", "address": "bold"}
    for name, value in facts(found):
        if value:
            table.add_row(Text(name, "dim"), Text(value, styles.get(name, "")))
    parts: list[RenderableType] = [Text("DIVERGENCE", "bold red"), indented(table)]
    return Group(*parts, *(() if found.grid is None else (Text(), indented(GridText(found.grid)))))


@dataclass(frozen=True)
class GridText:
    """An array on both sides, beside each other where the terminal is wide enough; what differs stands out."""

    shown: Grid

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        """The lines, for the width that there is."""
        text = Text("\n".join(self.shown.lines(min(options.max_width, WIDTH))), no_wrap=True, overflow="fold")
        text.highlight_regex(r"\[ *[^\[\]\s,:]+\]", "bold red")
        yield text


def reproduced(divergence: RenderableType, call: str) -> list[RenderableType]:
    """A divergence, and the call that shows it in a line of its own, which is not broken: it is there to be copied."""
    return ["", divergence, f"\nreproduce with\n  {call}\n"]


def repair(prompt: str) -> list[RenderableType]:
    """A prompt for a repair. It stands before all else, so that a terminal ends with the divergence, whatever its height."""
    return [said("REPAIR PROMPT", "bold"), "", prompt, ""]


def first_difference(
    both: SideBySide, rows: Sequence[tuple[str, str, str, str, bool]], grids: Mapping[str, Grid]
) -> RenderableType:
    """The first difference of one case, and what is around it: the reference a row before, and both sides."""
    found, is_probe = both.difference, both.case is None
    assert found is not None
    at = "" if is_probe else f" at step {found.step} of {both.steps}"
    gap = f", {found.gap}" if found.gap else ""
    title = Text.assemble(
        ("first difference", "bold red"), f"{at}: {found.path} ({found.rule}{gap}): ",
        "expected ", (found.expected, "green"), ", actual ", (found.actual, "red"),
    )  # fmt: skip
    columns = ["leaf"] if is_probe else ["leaf", f"row {found.step - 1}" if found.step else "before"]
    table = grid(
        "left", *["right"] * (len(columns) + 1), "left", header=(*columns, "expected", "actual", ""), unbroken=False
    )
    for address, before, wanted, given, differs in rows[:SHOWN_ROWS]:
        style = "bold" if differs else "dim"
        cells = [Text(address, style)] + ([] if is_probe else [Text(before, "dim")])
        cells += [Text(wanted, "green" if differs else "dim"), Text(given, "red" if differs else "dim")]
        table.add_row(*cells, Text("differs" if differs else "", style))
    hidden = len(rows) - SHOWN_ROWS
    arrays = [part for path, shown in grids.items() for part in (Text(), Text(path, "bold"), GridText(shown))]
    more = [Text(f"and {hidden} more elements", "dim")] if hidden > 0 else []
    return Group("", title, "", table, *more, *arrays)


def status(described: Mapping[str, Any]) -> RenderableType:
    """Where a session stands."""
    table = grid("left", "left")
    colour = {"done": "green", "needs_human": "bold yellow"}.get(described["state"], "")
    pairs = [
        ("session", described["session"]),
        ("task", described["task"]),
        ("workspace", described["workspace"]),
        ("state", Text(described["state"].replace("_", " "), colour)),
        *_steps(described),
        ("commit", described["commit"] or "none yet"),
        ("attempts", _spending(described)),
    ]
    last = described["last_attempt"]
    if last:
        pairs.append(("last attempt", f"{last['step']}: {last['outcome'] or 'running'}"))
        if last["finding"]:
            pairs.append(("", found_in(last)))
    reached = described.get("coverage", {}).get("summary", ())
    pairs += [("" if number else "coverage", line) for number, line in enumerate(reached)]
    for name, value in pairs:
        table.add_row(Text(name, "dim"), value if isinstance(value, Text) else Text(str(value)))
    asked = described["needs_human"]
    if not asked:
        return table
    tried = grid("right", "left", "left", "left")
    for attempt in asked["tried"]:
        tried.add_row(str(attempt["seq"]), attempt["outcome"], Text(attempt["message"]), Text(attempt["finding"]))
    because = Text("A person is needed: " + "; ".join(asked["because"]), "bold yellow")
    return Group(table, Text(), because, Text("What was tried:", "dim"), indented(tried))


def _steps(described: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What has passed and what comes next; of a specification, which has no recipe, what is due."""
    if "due" in described:
        return [("next", described["due"])]
    passed = ", ".join(step_name(step) for step in described["passed"]) or "nothing yet"
    following = step_name(described["next"]) if described["next"] else "nothing: everything has passed"
    return [("passed", passed), ("next", following)]


def found_in(attempt: Mapping[str, Any]) -> str:
    """What an attempt found, with both values: at which level, where another was asked for, and how many more there are."""
    finding = " ".join(attempt["finding"].split())
    level, more = attempt["failed_level"], attempt["divergences"] - 1
    asked = attempt["step"].split(" of ")[0]
    at = "" if level is None or asked == f"level {level}" else f"at level {level}: "
    return f"{at}{finding}{f', and {more} more' if more > 0 else ''}" if finding else ""


def history(rows: Sequence[Mapping[str, Any]]) -> RenderableType:
    """The events of a session, oldest first."""
    table = grid("right", *["left"] * 5, header=("", "time (UTC)", "event", "outcome", "commit", ""))
    for row in rows:
        detail = row["finding"] or row["arguments"].get("message", "") or row["arguments"].get("reason", "")
        if row["usage"].get("dollars"):
            detail = detail or cost(row["usage"]["dollars"], row["dollars_reported"])
        table.add_row(
            str(row["seq"]),
            row["time"][:19].replace("T", " "),
            event_name(row),
            outcome_text(row["outcome"]),
            (row["commit"] or "")[:10],
            Text(detail, "dim"),
        )
    return table


def cost(dollars: float, reported: float) -> str:
    """A cost, marked as far as it is the word of an agent, which nobody measured."""
    if not reported:
        return f"${dollars:.2f}"
    part = "" if reported >= dollars - 0.005 else f"${reported:.2f} "
    return f"${dollars:.2f} ({part}reported by the agent)"


def event_name(row: Mapping[str, Any]) -> str:
    """What an event was, with what it was about."""
    arguments = row["arguments"]
    if "level" not in arguments:
        return str(row["kind"])
    return f"{row['kind']}, {step_name(arguments)}"


def step_name(step: Mapping[str, Any]) -> str:
    """`level 1 of dynamics` for a step of the recipe."""
    return f"level {step['level']}" + (f" of {step['module']}" if step.get("module") else "")


def audit(report: AuditReport) -> RenderableType:
    """What each verified commit proved and cost, and what does not hold."""
    rows = report.rows
    header = ("commit", "proved", "compared", "bound", "time", "cost", "tries")
    proved = grid("left", "left", "left", "right", "right", "right", "right", header=header)
    shown = grid("left", "right", "right", "left", header=("commit", "seed", "cases", ""))
    for row in rows:
        compared = f"{row.examples:,} examples"
        if row.episodes:
            compared = f"{row.episodes:,} episodes, {row.steps:,} steps"
        proved.add_row(
            Text(row.commit[:10], "cyan"),
            step_name({"level": row.level, "module": row.module}),
            compared,
            "" if row.bound is None else f"{row.bound:.2%}",
            f"{row.duration_s:.1f} s",
            cost(row.dollars, row.dollars_reported) if row.dollars else "",
            str(row.attempts),
        )
        shown.add_row(Text(row.commit[:10], "cyan"), str(row.seed), str(row.cases), Text(row.message, "dim"))
    result = Text(f"\n{report.events} events, {len(rows)} verified commits: ")
    found = len(report.problems)
    wrong = f"{found} problem{'s' if found > 1 else ''}"
    result.append("everything holds" if report.ok else wrong, "green" if report.ok else "bold red")
    parts: list[RenderableType] = [proved, Text(), shown, result] if rows else [result]
    locate: dict[str, list[str]] = {}
    for row in rows:
        locate.setdefault(_judged_in(row), []).append(row.commit[:10])
    for location, commits in locate.items():
        which = "" if len(locate) == 1 else f": {', '.join(commits)}"
        parts.append(Text(f"judged in {location}{which}", "yellow" if "(not isolated)" in location else "dim"))
    signed = sum(bool(row.ssh) for row in rows)
    if signed:
        by = ", ".join(dict.fromkeys(row.ssh for row in rows if row.ssh))
        parts.append(Text(f"{signed} of {len(rows)} commits signed by the SSH key {by}", "dim"))
    parts += [Text(f"commit {r.commit[:10]} is not: {r.unsigned}", "yellow") for r in rows if r.unsigned]
    unpinned = "" if report.pinned else " (the record's own word; give --key to pin it)"
    before = "".join(f", before event {link['from']} by {former['id'][:16]}" for former, link in _handed_over(report))
    kind = "key for unisolated sessions" if report.isolated is False else "key"
    parts.append(Text(f"signed by {kind} {report.key[:16]}{before}{unpinned}", "yellow" if " " in kind else "dim"))
    for task in report.tasks[1:]:
        parts.append(Text(f"from event {task['from']} on judged by the changed task {task['digest'][:16]}", "yellow"))
    if report.gate is not None and not any(problem.rule == "gate" for problem in report.problems):
        parts.append(Text(f"the gate holds: {_asked(report.gate)}", "green"))
    parts += [indented(Text(f"{problem.rule}: {problem.what}", "red")) for problem in report.problems]
    if report.first_bad:
        parts.append(Text(f"the first commit that cannot be relied on is {report.first_bad}", "bold red"))
        parts.append(Text(f"the last that can is {report.last_good or 'none'}", "red"))
    return Group(*parts)


def _judged_in(row: Row) -> str:
    """The sandbox and the machine of a verified commit, in a line."""
    machine = row.machine
    location = row.sandbox + ("" if row.isolated else " (not isolated)")
    location += f", image {row.image[:19]}" if row.image else ""
    versions = (f"{name} {machine[name]}" for name in ("jax", "numpy") if machine.get(name))
    cores = f"{machine.get('cores', '?')} cores of {machine.get('cpu', 'an unknown processor')}"
    return ", ".join((location, cores, *versions))


def _handed_over(report: AuditReport) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Each key that was rotated away, newest first, with the one that followed it."""
    return zip(report.keys[-2::-1], report.keys[:0:-1], strict=False)


def _asked(gate: Mapping[str, Any]) -> str:
    """What a gate asked of the newest commit."""
    level = "" if gate["level"] is None else f"every level up to {gate['level']} passed"
    files = "" if gate["directory"] is None else f"{gate['directory']} is what the newest commit holds"
    return ", ".join(filter(None, (level, files)))


def health(item: Item) -> tuple[RenderableType, ...]:
    """One item of the doctor's, as the cells of a row."""
    colour = {"ok": "green", "limited": "yellow", "missing": "bold red"}[str(item.health)]
    found = Text(item.found)
    if item.next_step:
        found.append(f"\n{item.next_step}", "dim")
    return Text(str(item.health), colour), Text(item.name), found


def _compared(report: LevelReport) -> Text:
    parts = [f"{report.examples:,} examples"]
    if report.episodes:
        parts = [f"{report.episodes:,} episodes, {report.steps:,} steps"]
    if report.divergence_bound is not None:
        parts.append(f"at most {report.divergence_bound:.2%} of episodes diverge (95%)")
    return Text(", ".join(parts), "dim")


def _remarks(report: LevelReport) -> Iterator[RenderableType]:
    for check in report.checks:
        if check.outcome is not Outcome.PASS:
            detail = check.detail or next((found.address for found in check.divergences), "")
            name = check.name + (f" ({check.module})" if check.module else "")
            yield Text.assemble(outcome_text(str(check.outcome)), " ", name, (f": {detail}" if detail else "", "dim"))
    if report.outcome in (Outcome.PASS, Outcome.INCONCLUSIVE):
        for name, said in told(report.occurred, report.features):
            yield Text(f"{name}: {said}", "yellow" if name == NEVER else "dim")
    for name, said in report.floats_told:
        yield Text(f"{name}: {said}", "dim")
    for note in report.notes:
        yield Text(f"note: {note}", "yellow")


def _spending(described: Mapping[str, Any]) -> str:
    spent, limits = described["spent_on_next"], described["limits"]
    text = f"{described['attempts']} in all"
    if described["next"]:
        text += (
            f"; on the next step {spent['iterations']} of {limits['iterations']}, "
            f"{spent['seconds']:.0f} of {limits['seconds']:.0f} s"
        )
    if not described["dollars"]:
        return text
    return text + f"; {cost(described['dollars'], described['dollars_reported'])} of ${limits['dollars']:.2f}"
