//! The canonical state, leaf by leaf.

use lockstep_env::{Refused, leaves};

use crate::cards::card;
use crate::data::{DECK, Kind, TYPES};
use crate::effect::PROMOTE;
use crate::state::{Game, Hand, OVER, OnActive, PLACES, Pile, Pokemon, Run, Side};

leaves! {
    /// All that decides how a game goes on: of both players, and of their Pokémon by place.
    pub struct State {
        pub turn: u8,
        pub phase: u8,
        pub player: u8,
        pub asked: u8,
        pub stage: u8,
        pub supporter: u8,
        pub retreated: u8,
        pub eased: u8,
        pub run: [u8; 4],
        pub chosen: u8,
        pub left: u8,
        pub points: [u8; 2],
        pub zone: [[u8; 2]; 2],
        pub types: [[u8; 3]; 2],
        pub deck: [[u8; DECK]; 2],
        pub looked: [u8; 2],
        pub hand: [[u8; DECK]; 2],
        pub known: [[u8; DECK]; 2],
        pub discard: [[u8; DECK]; 2],
        pub card: [[u8; PLACES]; 2],
        pub under: [[[u8; 2]; PLACES]; 2],
        pub damage: [[u8; PLACES]; 2],
        pub energy: [[[u8; TYPES]; PLACES]; 2],
        pub fresh: [[u8; PLACES]; 2],
        pub used: [[u8; PLACES]; 2],
        pub mind: [u8; 2],
        pub poisoned: [u8; 2],
        pub burned: [u8; 2],
        pub shield: [u8; 2],
        pub no_attack: [u8; 2],
        pub no_retreat: [u8; 2],
        pub weakened: [u8; 2],
        pub gagged: [u8; 2],
    }
}

/// Both directions of what leaf stands for what field, where they have the same name.
macro_rules! fields {
    (
        game { $($of_game:ident,)* }
        side { $($of_side:ident,)* }
        pokemon { $($of_pokemon:ident,)* }
        active { $($of_active:ident,)* }
    ) => {
        /// The leaves of a game.
        pub fn encode(game: &Game) -> State {
            let sides = game.sides.each_ref();
            let Run { card, part, word, place } = game.run;
            State {
                run: [card, part, word, place],
                deck: sides.map(|side| side.deck.cards),
                hand: sides.map(|side| side.hand.pile.cards),
                known: sides.map(|side| std::array::from_fn(|at| (side.hand.known >> at & 1) as u8)),
                discard: sides.map(|side| side.discard.cards),
                $($of_game: game.$of_game,)*
                $($of_side: sides.map(|side| side.$of_side),)*
                $($of_pokemon: sides.map(|side| side.places.each_ref().map(|pokemon| pokemon.$of_pokemon)),)*
                $($of_active: sides.map(|side| side.on_active.$of_active),)*
            }
        }

        fn side(state: &State, player: usize) -> Result<Side, Refused> {
            let known = state.known[player].iter().enumerate();
            let known = known.fold(0, |all, (at, known)| all | u32::from(*known != 0) << at);
            let hand = Hand { pile: pile(state.hand[player])?, known };
            if known >> hand.pile.len() != 0 {
                return refuse("known cards");
            }
            Ok(Side {
                hand,
                deck: pile(state.deck[player])?,
                discard: pile(state.discard[player])?,
                places: std::array::from_fn(|place| Pokemon { $($of_pokemon: state.$of_pokemon[player][place],)* }),
                on_active: OnActive { $($of_active: state.$of_active[player],)* },
                $($of_side: state.$of_side[player],)*
            })
        }

        /// The game of some leaves.
        pub fn decode(state: &State) -> Result<Game, Refused> {
            check(state)?;
            let [card, part, word, place] = state.run;
            Ok(Game {
                sides: [side(state, 0)?, side(state, 1)?],
                run: Run { card, part, word, place },
                $($of_game: state.$of_game,)*
            })
        }
    };
}

fields! {
    game { turn, phase, player, asked, stage, supporter, retreated, eased, chosen, left, }
    side { gagged, points, zone, types, looked, }
    pokemon { card, under, damage, energy, fresh, used, }
    active { mind, poisoned, burned, shield, no_attack, no_retreat, weakened, }
}

fn pile(cards: [u8; DECK]) -> Result<Pile, Refused> {
    Pile::of(cards).map_or_else(|| refuse("a card behind a zero"), Ok)
}

fn refuse<T>(what: &str) -> Result<T, Refused> {
    Err(Refused(format!("no game has such {what}")))
}

fn check(state: &State) -> Result<(), Refused> {
    let piles = state.deck.iter().chain(&state.hand).chain(&state.discard).flatten();
    let in_play = state.card.iter().flatten().chain(state.under.as_flattened().as_flattened());
    let mut all = piles.chain(in_play).chain([&state.supporter, &state.run[0]]);
    if all.any(|number| *number != 0 && card(*number).kind == Kind::None) {
        return refuse("a card");
    }
    if state.player > 1 || state.asked > 1 || state.phase > OVER || state.run[1] > PROMOTE {
        return refuse("a player, phase or effect");
    }
    if state.run[3] >= PLACES as u8 || state.chosen > 2 * PLACES as u8 {
        return refuse("a place");
    }
    if state.zone.iter().flatten().chain(state.types.iter().flatten()).any(|kind| *kind > TYPES as u8) {
        return refuse("a type");
    }
    Ok(())
}
