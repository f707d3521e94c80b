//! Random battles in poke-engine, as many steps as each line of the input asks for.
//!
//! The first line says how many teams follow, one in each line: six Pokémon with `|` between them, as poke-engine writes
//! them. Every other line is `SEED BATTLES STEPS`; when they are made, `made` is printed, with how many battles ended.

use std::error::Error;
use std::io::{self, BufRead, Write};

use poke_engine::engine::generate_instructions::generate_instructions_from_move_pair;
use poke_engine::instruction::StateInstructions;
use poke_engine::state::{Pokemon, PokemonIndex, State};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

const PLACES: [PokemonIndex; 6] =
    [PokemonIndex::P0, PokemonIndex::P1, PokemonIndex::P2, PokemonIndex::P3, PokemonIndex::P4, PokemonIndex::P5];
const LAST_STEP: u32 = 1000;

type Team = Vec<Pokemon>;

fn main() -> Result<(), Box<dyn Error>> {
    let mut lines = io::stdin().lock().lines();
    let mut next = || lines.next().transpose();
    let count: usize = next()?.ok_or("no number of teams")?.parse()?;
    let mut teams = Vec::with_capacity(count);
    for _ in 0..count {
        let line = next()?.ok_or("a team is missing")?;
        teams.push(line.split('|').map(Pokemon::deserialize).collect());
    }
    while let Some(line) = next()? {
        let mut numbers = line.split(' ').map(str::parse);
        let mut number = || numbers.next().ok_or("a line is SEED BATTLES STEPS");
        let (seed, battles, steps): (u64, u64, u64) = (number()??, number()??, number()??);
        let ended = play(&teams, &mut SmallRng::seed_from_u64(seed), battles as usize, steps);
        println!("made {ended}");
        io::stdout().flush()?;
    }
    Ok(())
}

/// Make random choices in some battles at once; one that is over begins anew. How many were over.
fn play(teams: &[Team], rng: &mut SmallRng, battles: usize, steps: u64) -> u64 {
    let mut running: Vec<(State, u32)> = (0..battles).map(|_| (begin(teams, rng), 0)).collect();
    let mut ended = 0;
    for _ in 0..steps {
        for (state, made) in &mut running {
            step(state, rng);
            *made += 1;
            if state.battle_is_over() != 0.0 || *made == LAST_STEP {
                (*state, *made) = (begin(teams, rng), 0);
                ended += 1;
            }
        }
    }
    ended
}

fn begin(teams: &[Team], rng: &mut SmallRng) -> State {
    let mut state = State { use_last_used_move: true, use_damage_dealt: true, ..State::default() };
    for side in [&mut state.side_one, &mut state.side_two] {
        for (place, pokemon) in PLACES.iter().zip(&teams[rng.random_range(0..teams.len())]) {
            side.pokemon[*place] = pokemon.clone();
        }
    }
    state
}

/// One step: every choice that can be made is as likely as the others, and of what can come of it one comes by its odds.
fn step(state: &mut State, rng: &mut SmallRng) {
    let (first, second) = state.root_get_all_options();
    let (first, second) = (first[rng.random_range(0..first.len())], second[rng.random_range(0..second.len())]);
    let outcomes = generate_instructions_from_move_pair(state, &first, &second, true);
    if let Some(outcome) = drawn(&outcomes, rng) {
        state.apply_instructions(&outcome.instruction_list);
    }
}

fn drawn<'a>(outcomes: &'a [StateInstructions], rng: &mut SmallRng) -> Option<&'a StateInstructions> {
    let mut left = rng.random::<f32>() * outcomes.iter().map(|outcome| outcome.percentage).sum::<f32>();
    let found = outcomes.iter().find(|outcome| {
        left -= outcome.percentage;
        left <= 0.0
    });
    found.or(outcomes.last())
}
