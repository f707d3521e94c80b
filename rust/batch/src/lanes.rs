//! Sub-environments side by side: how they begin and step, alone and several at once.

use std::ops::Range;

use lockstep_env::{Chance, Columns, ColumnsMut, Environment, Leaves, Step};

use crate::room::{NoRoom, many};
use crate::watch::Watch;
use crate::{Autoreset, Outputs, Stop};

/// Sub-environments of a batch, each of their parts in an array of its own: what steps at once lies side by side.
#[derive(Debug)]
pub(crate) struct SubEnvs<E: Environment> {
    pub(crate) instances: Vec<E>,
    pub(crate) chances: Vec<Chance>,
    pub(crate) places: Vec<Place<E>>,
}

/// What a batch knows of a sub-environment beside its instance and chance.
#[derive(Clone, Debug)]
pub(crate) struct Place<E: Environment> {
    pub(crate) over: bool,
    /// None but where somebody checks what the sub-environment does.
    pub(crate) watch: Option<Box<Watch<E>>>,
}

/// Neighbouring sub-environments.
pub(crate) struct Lanes<'a, E: Environment> {
    instances: &'a mut [E],
    chances: &'a mut [Chance],
    places: &'a mut [Place<E>],
}

impl<E: Environment> SubEnvs<E> {
    /// So many like one that was not yet reset.
    ///
    /// # Errors
    /// They would take more memory than there is.
    pub(crate) fn new(instance: &E, count: usize) -> Result<Self, NoRoom> {
        let place = Place { over: true, watch: None };
        let beside = size_of::<Chance>() + size_of::<Place<E>>() + row_bytes::<E>();
        Ok(SubEnvs {
            instances: many(instance, count, beside)?,
            chances: many(&Chance::new(0), count, 0)?,
            places: many(&place, count, 0)?,
        })
    }

    pub(crate) fn all(&mut self) -> Lanes<'_, E> {
        Lanes { instances: &mut self.instances, chances: &mut self.chances, places: &mut self.places }
    }
}

/// Bytes of an instance's rows in the arrays of a step: what is seen, and what was seen last.
fn row_bytes<E: Environment>() -> usize {
    2 * E::Observation::LEAVES.iter().map(|leaf| leaf.size() * leaf.dtype.bytes()).sum::<usize>()
}

impl<'a, E: Environment> Lanes<'a, E> {
    pub(crate) fn len(&self) -> usize {
        self.instances.len()
    }

    /// The first `count`, and the others.
    pub(crate) fn split_at(self, count: usize) -> (Self, Self) {
        let (instances, instances_right) = self.instances.split_at_mut(count);
        let (chances, chances_right) = self.chances.split_at_mut(count);
        let (places, places_right) = self.places.split_at_mut(count);
        (
            Lanes { instances, chances, places },
            Lanes { instances: instances_right, chances: chances_right, places: places_right },
        )
    }

    /// Begin an episode in one, with what is left of its chance or with a seed.
    pub(crate) fn begin(&mut self, lane: usize, seed: Option<u64>) {
        let (instance, chance, place) = (&mut self.instances[lane], &mut self.chances[lane], &mut self.places[lane]);
        if let Some(seed) = seed {
            *chance = Chance::new(seed);
        }
        match &mut place.watch {
            None => instance.reset(chance),
            Some(watch) => watch.reset(instance, chance),
        }
        place.over = false;
    }

    /// Begin an episode in all, each from its seed, and write what is seen.
    pub(crate) fn begin_all(mut self, seeds: &[u64], mut seen: ColumnsMut<'_>, grain: usize, stop: &Stop<'_>) {
        if self.len() > grain {
            let middle = self.len() / 2;
            let (left, right) = self.split_at(middle);
            let (seeds_left, seeds_right) = seeds.split_at(middle);
            let (seen_left, seen_right) = seen.split_at(middle);
            rayon::join(
                || left.begin_all(seeds_left, seen_left, grain, stop),
                || right.begin_all(seeds_right, seen_right, grain, stop),
            );
            return;
        }
        for (lane, seed) in seeds.iter().enumerate() {
            if stop.now() {
                return;
            }
            self.begin(lane, Some(*seed));
            self.instances[lane].look(&mut seen.row(lane));
        }
    }

    /// Step all, and write what comes of it.
    pub(crate) fn step_all(
        mut self,
        actions: Columns<'_>,
        mut outputs: Outputs<'_>,
        mode: Autoreset,
        grain: usize,
        stop: &Stop<'_>,
    ) {
        const { assert!(E::LANES > 0, "an environment steps one lane at least at once") };
        if self.len() > grain {
            let middle = self.len() / 2;
            let (left, right) = self.split_at(middle);
            let (actions_left, actions_right) = actions.split_at(middle);
            let (outputs_left, outputs_right) = outputs.split_at(middle);
            rayon::join(
                || left.step_all(actions_left, outputs_left, mode, grain, stop),
                || right.step_all(actions_right, outputs_right, mode, grain, stop),
            );
            return;
        }
        let mut taken = Vec::with_capacity(E::LANES.min(self.len()));
        let mut first = 0;
        while first < self.len() {
            if stop.now() {
                return;
            }
            if self.places[first].over {
                self.rest(first, &mut outputs, mode);
                first += 1;
                continue;
            }
            let block = self.places[first..].iter().take(E::LANES).take_while(|place| !place.over).count();
            let lanes = first..first + block;
            taken.clear();
            taken.extend(lanes.clone().map(|lane| E::Action::load(&actions.row(lane))));
            self.step_some(lanes.clone(), &taken, &mut outputs);
            for lane in lanes {
                self.go_on(lane, &mut outputs, mode);
            }
            first += block;
        }
    }

    /// One whose episode is over: in mode `Disabled` it rests until somebody resets it.
    fn rest(&mut self, lane: usize, outputs: &mut Outputs<'_>, mode: Autoreset) {
        if mode == Autoreset::NextStep {
            self.begin(lane, None);
            self.instances[lane].look(&mut outputs.seen.row(lane));
        }
        outputs.reward.row(lane).clear();
        (outputs.terminated[lane], outputs.truncated[lane]) = Default::default();
    }

    /// Step some at once, and write what each step led to.
    fn step_some(&mut self, lanes: Range<usize>, actions: &[E::Action], outputs: &mut Outputs<'_>) {
        let instances = &mut self.instances[lanes.clone()];
        let (chances, places) = (&mut self.chances[lanes.clone()], &mut self.places[lanes.clone()]);
        for (place, chance) in places.iter_mut().zip(chances.iter_mut()) {
            if let Some(watch) = &mut place.watch {
                watch.note(chance);
            }
        }
        write::<E>(E::step_lanes(instances, actions, chances), lanes, outputs);
        for (place, chance) in places.iter_mut().zip(chances) {
            if let Some(watch) = &mut place.watch {
                watch.stepped(chance);
            }
        }
    }

    /// What follows a step of one: where its episode has ended perhaps the next, and what is seen.
    fn go_on(&mut self, lane: usize, outputs: &mut Outputs<'_>, mode: Autoreset) {
        if outputs.terminated[lane] || outputs.truncated[lane] {
            self.places[lane].over = true;
            if mode == Autoreset::SameStep {
                self.instances[lane].look(&mut outputs.last.row(lane));
                self.begin(lane, None);
            }
        }
        self.instances[lane].look(&mut outputs.seen.row(lane));
    }
}

/// Write what steps led to.
fn write<E: Environment>(
    mut steps: impl Iterator<Item = Step<E::Reward>>,
    lanes: Range<usize>,
    outputs: &mut Outputs<'_>,
) {
    let (first, asked) = (lanes.start, lanes.len());
    for lane in lanes {
        let step = steps.next().unwrap_or_else(|| panic!("of {asked} lanes only {} were stepped", lane - first));
        step.reward.store(&mut outputs.reward.row(lane));
        outputs.terminated[lane] = step.terminated;
        outputs.truncated[lane] = step.truncated;
    }
    assert!(steps.next().is_none(), "more than {asked} lanes were stepped");
}
