//! Which actions are legal (92, 93).

use crate::actions::{ATTACK, Actions, CHARGE, END_OR_DONE, HAND, LEAVE, SCRAP, USE};
use crate::cards::card;
use crate::data::{Card, Kind, Target, Word};
use crate::effect::Effect;
use crate::questions::{answers, evolving, retreat_cost};
use crate::state::{ASKED, ASLEEP, BENCH, Game, MAIN, OVER, PARALYSED, PLACE_ACTIVE, PLACE_BENCH, Side};

/// All that are legal, of who is asked.
pub fn legal(game: &Game) -> Actions {
    match game.phase {
        OVER => 0,
        ASKED => {
            let effect = Effect::of(game);
            effect.word(game).map_or(0, |word| answers(game, &effect, word))
        }
        MAIN => in_turn(game),
        _ => placing(game),
    }
}

/// Basic Pokémon of the hand; nothing more, once somebody is active (22).
fn placing(game: &Game) -> Actions {
    let side = &game.sides[usize::from(game.asked & 1)];
    let done = u64::from(game.phase == PLACE_BENCH) << END_OR_DONE;
    if game.phase != PLACE_ACTIVE && side.room().is_none() {
        return done;
    }
    done | of_hand(side, |card| card.kind == Kind::Basic)
}

fn of_hand(side: &Side, is_one: impl Fn(&Card) -> bool) -> Actions {
    let cards = side.hand.pile.list().iter().enumerate();
    cards.fold(0, |all, (at, number)| all | u64::from(is_one(card(*number))) << (HAND + at))
}

/// All that may be done in a turn (32).
fn in_turn(game: &Game) -> Actions {
    let player = game.in_turn();
    let (side, other) = (&game.sides[player], &game.sides[1 - player]);
    let has_room = side.room().is_some();
    let supporters = game.supporter == 0 && side.gagged == 0 && !other.active().card().silence;
    let mut all = 1 << END_OR_DONE;
    all |= of_hand(side, |card| match card.kind {
        Kind::Basic | Kind::Fossil => has_room,
        Kind::Evolution => evolving(game, player, card) != 0,
        Kind::Supporter => supporters && can_do(game, player, card),
        Kind::Item => can_do(game, player, card),
        Kind::None => false,
    });
    if !matches!(side.on_active.mind, ASLEEP | PARALYSED) {
        all |= attacks(side) | u64::from(may_retreat(game, side)) << LEAVE;
    }
    let has_others = side.in_play() > 1;
    for (place, pokemon) in side.places.iter().enumerate().filter(|(_, pokemon)| pokemon.is_there()) {
        let card = pokemon.card();
        let usable = !card.effect.is_empty() && pokemon.used == 0 && !(card.only_active && place > 0);
        all |= u64::from(usable && can_do(game, player, card)) << (USE + place);
        all |= u64::from(side.zone[0] > 0) << (CHARGE + place);
        all |= u64::from(card.kind == Kind::Fossil && has_others) << (SCRAP + place);
    }
    all
}

/// Those that the active Pokémon has the energy for (47).
fn attacks(side: &Side) -> Actions {
    if side.on_active.no_attack > 0 {
        return 0;
    }
    let active = side.active();
    let attacks = active.card().attacks.iter().enumerate();
    attacks.fold(0, |all, (at, attack)| all | u64::from(attack.is_affordable(&active.energy)) << (ATTACK + at))
}

fn may_retreat(game: &Game, side: &Side) -> bool {
    let active = side.active();
    let free = game.retreated == 0 && side.on_active.no_retreat == 0 && active.card().kind != Kind::Fossil;
    free && side.has_bench() && active.all_energy() >= u32::from(retreat_cost(game, active.card()))
}

/// Whether the first word of a trainer or an ability can do something (38).
fn can_do(game: &Game, player: usize, card: &Card) -> bool {
    let (side, other) = (&game.sides[player], &game.sides[1 - player]);
    match card.effect[0] {
        word @ Word::Choose(..) => answers(game, &Effect::by(player), word) != 0,
        Word::HealSelf(_) | Word::HealDealt | Word::HealChosen(_) | Word::HealOwn(_) => {
            side.places.iter().any(|pokemon| pokemon.damage > 0)
        }
        Word::Push => other.has_bench(),
        Word::Draw(_) | Word::Look(_) | Word::Find(_) => !side.deck.is_empty(),
        Word::Show | Word::Redraw(_) => !other.hand.pile.is_empty(),
        Word::Lift(filter) => filter.fits(side.active().card) && side.has_bench(),
        Word::Gather(kind, filter) => {
            let energy = usize::from(kind - 1);
            filter.fits(side.active().card) && side.places[BENCH].iter().any(|pokemon| pokemon.energy[energy] > 0)
        }
        Word::Charge(Target::Active, kind, _) | Word::ChargeHeads(Target::Active, kind) => {
            side.active().card().element == kind
        }
        _ => true,
    }
}
