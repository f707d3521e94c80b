//! What a sub-environment does, noted for whoever checks a batch against single instances.

use std::collections::VecDeque;

use lockstep_env::{Chance, Drawn, Environment};

/// What a sub-environment did since it was last asked.
#[derive(Clone, Debug)]
pub struct Report<E: Environment> {
    /// What the step drew, in order.
    pub stepped: Vec<Drawn>,
    /// What the reset drew, where there was one.
    pub begun: Vec<Drawn>,
    /// The canonical state from before that reset, where a step came before it.
    pub last: Option<E::State>,
}

impl<E: Environment> Default for Report<E> {
    fn default() -> Self {
        Report { stepped: Vec::new(), begun: Vec::new(), last: None }
    }
}

/// The notes of one sub-environment.
#[derive(Clone, Debug)]
pub(crate) struct Watch<E: Environment> {
    tape: VecDeque<Vec<Drawn>>,
    report: Report<E>,
    has_stepped: bool,
}

impl<E: Environment> Watch<E> {
    pub(crate) fn new(tape: Vec<Vec<Drawn>>) -> Self {
        Watch { tape: tape.into(), report: Report::default(), has_stepped: false }
    }

    pub(crate) fn reset(&mut self, environment: &mut E, chance: &mut Chance) {
        if self.has_stepped {
            self.report.last = Some(environment.encode());
        }
        self.note(chance);
        environment.reset(chance);
        self.report.begun = chance.noted();
    }

    /// Before a step or reset: it draws from the tape first, and is noted.
    pub(crate) fn note(&mut self, chance: &mut Chance) {
        chance.note(self.tape.pop_front().unwrap_or_default());
    }

    /// After a step.
    pub(crate) fn stepped(&mut self, chance: &mut Chance) {
        self.has_stepped = true;
        self.report.stepped = chance.noted();
    }

    pub(crate) fn report(&mut self) -> Report<E> {
        self.has_stepped = false;
        std::mem::take(&mut self.report)
    }
}
