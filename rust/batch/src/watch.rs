//! What a lane does, noted for whoever checks a batch against single instances.

use std::collections::VecDeque;

use lockstep_env::{Chance, Drawn, Environment, Recorded, Step};

/// What a lane did since it was last asked.
#[derive(Clone, Debug)]
pub struct Told<E: Environment> {
    /// What the step drew, in order.
    pub stepped: Vec<Drawn>,
    /// What the reset drew, where there was one.
    pub begun: Vec<Drawn>,
    /// The canonical state from before that reset, where a step came before it.
    pub last: Option<E::State>,
}

impl<E: Environment> Default for Told<E> {
    fn default() -> Self {
        Told { stepped: Vec::new(), begun: Vec::new(), last: None }
    }
}

/// The notes of one lane.
#[derive(Clone, Debug)]
pub(crate) struct Watch<E: Environment> {
    tape: VecDeque<Vec<Drawn>>,
    told: Told<E>,
    has_stepped: bool,
}

impl<E: Environment> Watch<E> {
    pub(crate) fn new(tape: Vec<Vec<Drawn>>) -> Self {
        Watch { tape: tape.into(), told: Told::default(), has_stepped: false }
    }

    pub(crate) fn reset(&mut self, environment: &mut E, chance: &mut Chance) {
        if self.has_stepped {
            self.told.last = Some(environment.encode());
        }
        let given = self.tape.pop_front().unwrap_or_default();
        let mut recorded = Recorded::new(chance, &given);
        environment.reset(&mut recorded);
        self.told.begun = recorded.drawn();
    }

    pub(crate) fn step(&mut self, environment: &mut E, action: &E::Action, chance: &mut Chance) -> Step<E::Reward> {
        self.has_stepped = true;
        let given = self.tape.pop_front().unwrap_or_default();
        let mut recorded = Recorded::new(chance, &given);
        let step = environment.step(action, &mut recorded);
        self.told.stepped = recorded.drawn();
        step
    }

    pub(crate) fn told(&mut self) -> Told<E> {
        self.has_stepped = false;
        std::mem::take(&mut self.told)
    }
}
