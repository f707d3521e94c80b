"""A candidate in Rust whose functions are yet to be written: a crate that compiles, and panics when it is asked."""

from __future__ import annotations

import re
from collections.abc import Mapping

from harness.model import REWARD, STATE, Leaf, is_of_step, is_reward
from harness.task.contract import Task, TaskDraw

_TYPES = {
    "bool": "bool", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64",
    "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64", "float32": "f32", "float64": "f64",
}  # fmt: skip
_KEYWORDS = frozenset(
    """
    abstract as async await become box break const continue crate do dyn else enum extern final fn for gen if impl in let
    loop macro match mod move mut override priv pub ref return self static struct super trait true try type typeof unsafe
    unsized use virtual where while yield
    """.split()  # noqa: SIM905  # words are read, a list of quoted ones is not
)


def manifest(name: str) -> str:
    """`Cargo.toml` of such a crate."""
    return f"""\
[package]
name = "{name}"
version = "0.1.0"
edition = "2024"

[dependencies]
lockstep-env = "0.1"

[lints.rust]
unsafe_code = "forbid"
"""


def source(task: Task) -> str:
    """`src/lib.rs` of such a crate, with all leaves, draws and probes that the task declares."""
    kind = _camel(task.name)
    outputs = {path: leaf for path, leaf in task.outputs.items() if not is_of_step(path) and path not in task.state}
    state = {path.removeprefix(STATE): leaf for path, leaf in task.state.items()}
    rewards = {path: leaf for path, leaf in task.outputs.items() if is_reward(path)}
    reward = "Rewards" if task.players else _TYPES[rewards[REWARD].dtype]
    earned = _struct("Rewards", "What each player earns.", rewards) if task.players else ""
    draws = "".join(_draw(draw) for draw in task.draws.values())
    probed = [_probe(probe.name, probe.inputs, probe.outputs) for probe in task.probes.values()]
    listed = "".join(f"\n        {entry}," for entry, _ in probed)
    probes = f"    const PROBES: &'static [Probe] = &[{listed}\n    ];\n\n" if probed else ""
    used = ["Draw"] * bool(draws) + ["Draws", "Environment", "Options"] + ["Probe"] * bool(probed)
    names = ", ".join([*used, "Refused", "Step", "leaves", *["probe"] * bool(probed)])
    return f"""\
//! {task.summary}.

#![expect(unused_variables, dead_code, reason = "yet to be written")]

use lockstep_env::{{{names}}};

lockstep_env::environment!({kind});

{_struct("State", "Every fact that decides the future.", state)}
{_struct("Seen", "What is seen.", outputs)}
{_struct("Action", "What is done.", task.actions)}
{earned}{draws}
/// One instance.
#[derive(Clone, Debug)]
pub struct {kind}(State);

impl Environment for {kind} {{
    type Observation = Seen;
    type Action = Action;
    type State = State;
    type Reward = {reward};

{probes}    fn new(options: &Options) -> Result<Self, Refused> {{
        options.only(&[])?;
        todo!("an instance that was not yet reset")
    }}

    fn reset<D: Draws>(&mut self, draws: &mut D) {{
        todo!("begin an episode")
    }}

    fn step<D: Draws>(&mut self, action: &Action, draws: &mut D) -> Step<{reward}> {{
        todo!("one step")
    }}

    fn observe(&self) -> Seen {{
        todo!("what is seen of where it is")
    }}

    fn encode(&self) -> State {{
        self.0.clone()
    }}

    fn decode(&mut self, state: &State) -> Result<(), Refused> {{
        self.0 = state.clone();
        Ok(())
    }}
}}
{"".join(text for _, text in probed)}"""


def _draw(draw: TaskDraw) -> str:
    when = "a reset and a step" if draw.at == "both" else f"a {draw.at}"
    kind = _kind(Leaf(draw.name, draw.dtype, draw.shape))
    return f'/// Drawn at {when}.\nconst {_name(draw.name).upper()}: Draw<{kind}> = Draw::new("{draw.name}");\n'


def _probe(name: str, inputs: Mapping[str, Leaf], outputs: Mapping[str, Leaf]) -> tuple[str, str]:
    kind, function = _camel(name), _name(name)
    given, returned = f"{kind}Inputs", f"{kind}Outputs"
    text = (
        f"\n{_struct(given, f'What the probe `{name}` is asked.', inputs)}"
        f"\n{_struct(returned, 'What it answers.', outputs)}"
        f'\nfn {function}(given: {given}) -> {returned} {{\n    todo!("the rule `{name}`")\n}}\n'
    )
    return f'probe!("{name}", {given} => {returned}, {function})', text


def _struct(name: str, about: str, leaves: Mapping[str, Leaf]) -> str:
    fields = "".join(f"        pub {_field(path)}: {_kind(leaf)}{_path(path)},\n" for path, leaf in leaves.items())
    return f"leaves! {{\n    /// {about}\n    pub struct {name} {{\n{fields}    }}\n}}\n"


def _field(path: str) -> str:
    return _name(path.replace("/", "_"))


def _path(path: str) -> str:
    return "" if _field(path) == path else f' => "{path}"'


def _kind(leaf: Leaf) -> str:
    kind = _TYPES[leaf.dtype]
    for size in reversed(leaf.shape):
        kind = f"[{kind}; {size}]"
    return kind


def _name(text: str) -> str:
    name = re.sub(r"\W", "_", text)
    return f"{name}_" if name in _KEYWORDS else name


def _camel(text: str) -> str:
    return "".join(part.capitalize() for part in re.split(r"[\W_]+", text))
