//! What the words of effects do that ask nobody (66 to 90).

use lockstep_env::Draws;

use crate::cards::card;
use crate::chance;
use crate::damage;
use crate::data::{Condition, Count, Filter, Kind, Target, Word};
use crate::effect::Effect;
use crate::state::{ACTIVE, ASLEEP, BENCH, CONFUSED, FULL_HAND, Game, PARALYSED, PLACES};

/// `flip run` ends after so many heads (66).
const LONGEST_RUN: u8 = 16;

/// Carry a word out; whether the effect goes on.
pub fn carry_out<D: Draws>(game: &mut Game, effect: &mut Effect, draws: &mut D, word: Word) -> bool {
    let (player, other) = (effect.player, effect.other);
    match word {
        Word::Flip(count) => flip(effect, draws, count),
        Word::FlipRun => flip_run(effect, draws),
        Word::NeedHeads => return effect.heads > 0,
        Word::NeedTails => return effect.tails > 0,
        Word::NeedAll => return effect.tails == 0,
        Word::More(amount, what) => effect.more += u32::from(amount) * count(game, effect, what),
        Word::Hit(amount) => {
            effect.dealt = damage::attack(game, effect, ACTIVE, u32::from(amount) + effect.more);
            effect.more = 0;
        }
        Word::StrikeChosen(amount) => {
            let (whose, place) = game.chosen(player);
            strike(game, effect, whose, place, amount);
        }
        Word::StrikeBench(amount) => BENCH.for_each(|place| strike(game, effect, other, place, amount)),
        Word::Hurt(amount) => {
            game.sides[player].places[effect.place].suffer(u32::from(amount));
        }
        Word::Scatter(times, amount) => scatter(game, effect, draws, times, amount),
        Word::HealSelf(amount) => heal(game, player, effect.place, amount),
        Word::HealDealt => heal(game, player, effect.place, effect.dealt),
        Word::HealChosen(amount) => {
            let (whose, place) = game.chosen(player);
            heal(game, whose, place, amount);
        }
        Word::HealOwn(amount) => (0..PLACES).for_each(|place| heal(game, player, place, amount)),
        Word::Inflict(condition) => inflict(game, other, condition),
        Word::Shield(amount) => game.sides[player].on_active.shield = amount,
        Word::BarAttack => game.sides[other].on_active.no_attack = 1,
        Word::BarRetreat => game.sides[other].on_active.no_retreat = 1,
        Word::Weaken(amount) => game.sides[other].on_active.weakened = amount,
        Word::Gag => game.sides[other].gagged = 1,
        Word::Charge(target, kind, amount) => charge(game, effect, target, kind, amount),
        Word::ChargeHeads(target, kind) => charge(game, effect, target, kind, effect.heads),
        Word::Discard(kind, amount) => {
            let energy = game.sides[player].places[effect.place].energy_mut(kind);
            *energy = energy.saturating_sub(amount);
        }
        Word::DiscardAll => game.sides[player].places[effect.place].energy = Default::default(),
        Word::Strip => strip(game, other, draws),
        Word::Swap => {
            let (whose, place) = game.chosen(player);
            game.sides[whose].exchange(place);
        }
        Word::Draw(amount) => (0..amount).for_each(|_| game.sides[player].draw()),
        Word::Find(filter) => find(game, player, draws, filter),
        Word::Call(filter) => call(game, player, draws, filter),
        Word::Toss => toss(game, other, draws),
        Word::Return => put_back(game, other, draws),
        Word::Show => game.sides[other].hand.show(),
        Word::Look(amount) => {
            let side = &mut game.sides[player];
            side.looked = side.looked.max(amount.min(side.deck.len() as u8));
        }
        Word::Lift(_) => {
            let side = &mut game.sides[player];
            side.clear(ACTIVE).for_each(|number| side.hand.take(number, true));
        }
        Word::Gather(kind, _) => gather(game, player, kind),
        Word::Redraw(amount) => redraw(game, other, draws, amount),
        Word::Ease(amount) => game.eased += amount,
        // While the supporter counts, attacks ask for it (87).
        Word::Boost(..) => {}
        // These ask somebody.
        Word::Choose(..) | Word::Spread(_) | Word::Push | Word::Copy | Word::Pay | Word::Evolve | Word::Promote => {}
    }
    true
}

fn flip<D: Draws>(effect: &mut Effect, draws: &mut D, count: u8) {
    effect.heads = (0..count).map(|_| u8::from(chance::coin(draws))).sum();
    effect.tails = count - effect.heads;
}

fn flip_run<D: Draws>(effect: &mut Effect, draws: &mut D) {
    (effect.heads, effect.tails) = (0, 0);
    while effect.heads < LONGEST_RUN {
        if !chance::coin(draws) {
            effect.tails = 1;
            return;
        }
        effect.heads += 1;
    }
}

/// What `more` counts (67).
fn count(game: &Game, effect: &Effect, what: Count) -> u32 {
    let (own, other) = (&game.sides[effect.player], &game.sides[effect.other]);
    match what {
        Count::Heads => u32::from(effect.heads),
        Count::All => u32::from(effect.tails == 0),
        Count::Bench(filter) => own.places[BENCH].iter().filter(|pokemon| filter.fits(pokemon.card)).count() as u32,
        Count::FoeEnergy => other.active().all_energy(),
        Count::Extra(kind, least) => {
            let at = usize::from(kind - 1);
            u32::from(own.active().energy[at] >= effect.attack.cost[at] + least)
        }
        Count::HurtSelf => u32::from(own.places[effect.place].damage > 0),
        Count::HurtFoe => u32::from(other.active().damage > 0),
        Count::Poisoned => u32::from(other.on_active.poisoned > 0),
    }
}

/// Damage of the attack to the other player's Pokémon; else damage that nothing changes (68).
fn strike(game: &mut Game, effect: &Effect, whose: usize, place: usize, amount: u8) {
    if effect.is_attack && whose == effect.other {
        damage::attack(game, effect, place, u32::from(amount));
    } else {
        game.sides[whose].places[place].suffer(u32::from(amount));
    }
}

/// Choose among the other player's Pokémon again and again, then do the damage at once (69).
fn scatter<D: Draws>(game: &mut Game, effect: &Effect, draws: &mut D, times: u8, amount: u8) {
    let side = &game.sides[effect.other];
    let there = side.in_play();
    let mut places = (0..PLACES).filter(|place| side.places[*place].is_there());
    let places: [usize; PLACES] = std::array::from_fn(|_| places.next().unwrap_or_default());
    let mut picked = [0; PLACES];
    for _ in 0..times {
        picked[places[chance::pick(draws, there)]] += u32::from(amount);
    }
    for (place, amount) in picked.into_iter().enumerate() {
        damage::attack(game, effect, place, amount);
    }
}

fn heal(game: &mut Game, player: usize, place: usize, amount: u8) {
    let damage = &mut game.sides[player].places[place].damage;
    *damage = damage.saturating_sub(amount);
}

/// A condition for an active Pokémon (59, 72).
fn inflict(game: &mut Game, player: usize, condition: Condition) {
    let active = &mut game.sides[player].on_active;
    match condition {
        Condition::Asleep => active.mind = ASLEEP,
        Condition::Paralysed => active.mind = PARALYSED,
        Condition::Confused => active.mind = CONFUSED,
        Condition::Poisoned => active.poisoned = 1,
        Condition::Burned => active.burned = 1,
    }
}

/// Attach energy that does not come from the energy of the turn (78).
fn charge(game: &mut Game, effect: &Effect, target: Target, kind: u8, amount: u8) {
    let (whose, place) = match target {
        Target::Own => (effect.player, effect.place),
        Target::Active => (effect.player, ACTIVE),
        Target::Chosen => game.chosen(effect.player),
    };
    let pokemon = &mut game.sides[whose].places[place];
    if target != Target::Active || pokemon.card().element == kind {
        *pokemon.energy_mut(kind) += amount;
    }
}

/// Discard a random energy of the foe (80).
fn strip<D: Draws>(game: &mut Game, other: usize, draws: &mut D) {
    let foe = game.sides[other].active_mut();
    let all = foe.all_energy() as usize;
    if all == 0 {
        return;
    }
    let mut at = chance::pick(draws, all);
    for count in &mut foe.energy {
        match at.checked_sub(usize::from(*count)) {
            Some(beyond) => at = beyond,
            None => {
                *count -= 1;
                return;
            }
        }
    }
}

/// Take a random Pokémon of the own deck out of it, of those that a filter names; None where there is none (82).
fn taken<D: Draws>(game: &mut Game, player: usize, draws: &mut D, filter: Filter) -> Option<u8> {
    let side = &mut game.sides[player];
    let is_right = |number: &u8| filter.fits(*number) && card(*number).kind != Kind::Fossil;
    let right = side.deck.list().iter().filter(|number| is_right(number)).count();
    if right == 0 {
        return None;
    }
    let nth = chance::pick(draws, right);
    let deck = side.deck.list().iter().enumerate();
    let (at, _) = deck.filter(|(_, number)| is_right(number)).nth(nth)?;
    side.looked -= u8::from(at < usize::from(side.looked));
    Some(side.deck.remove(at))
}

fn find<D: Draws>(game: &mut Game, player: usize, draws: &mut D, filter: Filter) {
    if game.sides[player].hand.pile.len() >= FULL_HAND {
        return;
    }
    if let Some(number) = taken(game, player, draws, filter) {
        game.sides[player].hand.take(number, true);
    }
}

fn call<D: Draws>(game: &mut Game, player: usize, draws: &mut D, filter: Filter) {
    let Some(room) = game.sides[player].room() else { return };
    if let Some(number) = taken(game, player, draws, filter) {
        game.sides[player].put(room, number);
    }
}

/// Discard a random card of the other player's hand (83, 108).
fn toss<D: Draws>(game: &mut Game, other: usize, draws: &mut D) {
    let side = &mut game.sides[other];
    if !side.hand.pile.is_empty() {
        let number = side.hand.pile.cards[chance::pick(draws, side.hand.pile.len())];
        side.hand.give(number);
        side.discard.sort_in(number);
    }
}

/// `return`: shuffle the foe into its owner's deck (83).
fn put_back<D: Draws>(game: &mut Game, other: usize, draws: &mut D) {
    let side = &mut game.sides[other];
    side.clear(ACTIVE).for_each(|number| side.deck.push(number));
    side.shuffle(&chance::shuffle(draws));
}

/// Move all energy of a type to the own active Pokémon (85).
fn gather(game: &mut Game, player: usize, kind: u8) {
    let [active, bench @ ..] = &mut game.sides[player].places;
    for pokemon in bench {
        *active.energy_mut(kind) += std::mem::take(pokemon.energy_mut(kind));
    }
}

/// Shuffle a hand into its player's deck, and let its player draw (86).
fn redraw<D: Draws>(game: &mut Game, other: usize, draws: &mut D, amount: u8) {
    let side = &mut game.sides[other];
    let hand = std::mem::take(&mut side.hand);
    hand.pile.list().iter().for_each(|number| side.deck.push(*number));
    side.shuffle(&chance::shuffle(draws));
    (0..amount).for_each(|_| side.draw());
}
