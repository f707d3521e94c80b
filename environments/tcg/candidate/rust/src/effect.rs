//! The effect that is carried out: which words it has, whose it is, and what is counted meanwhile.

use crate::cards::card;
use crate::data::{ALL, ANYBODY, Attack, NO_ATTACK, Where, Whose, Word};
use crate::state::{ACTIVE, Game, Run};

/// The parts of a card that are effects, then what every card can do.
pub const ATTACK_1: u8 = 1;
pub const ATTACK_2: u8 = 2;
pub const ABILITY: u8 = 3;
pub const TRAINER: u8 = 4;
pub const RETREAT: u8 = 5;
pub const EVOLVE: u8 = 6;
pub const PROMOTE: u8 = 7;

/// The energy first, then who comes (41, 95).
const RETREAT_WORDS: &[Word] = &[Word::Pay, Word::Choose(Whose::Own, Where::Bench, ANYBODY), Word::Swap];
const EVOLVE_WORDS: &[Word] = &[Word::Evolve];
const PROMOTE_WORDS: &[Word] = &[Word::Promote];

/// An effect from where somebody was asked: what was counted before is forgotten (91).
#[derive(Clone, Copy, Debug)]
pub struct Effect {
    /// Whose effect it is, and the other one.
    pub player: usize,
    pub other: usize,
    /// Where self is.
    pub place: usize,
    pub words: &'static [Word],
    /// The attack whose cost `extra` looks at; of what is no attack, one that costs nothing.
    pub attack: &'static Attack,
    pub is_attack: bool,
    pub heads: u8,
    pub tails: u8,
    /// What `more` added, and what the last `hit` did.
    pub more: u32,
    pub dealt: u8,
}

impl Effect {
    /// The one that runs.
    pub fn of(game: &Game) -> Self {
        let Run { card: number, part, place, .. } = game.run;
        let attack = match part {
            ATTACK_1 | ATTACK_2 => card(number).attacks.get(usize::from(part - ATTACK_1)).unwrap_or(&NO_ATTACK),
            _ => &NO_ATTACK,
        };
        let words = match part {
            ATTACK_1 | ATTACK_2 => attack.words,
            ABILITY | TRAINER => card(number).effect,
            RETREAT => RETREAT_WORDS,
            EVOLVE => EVOLVE_WORDS,
            PROMOTE => PROMOTE_WORDS,
            _ => &[],
        };
        let player = usize::from(if part == PROMOTE { game.asked } else { game.player } & 1);
        Effect {
            place: usize::from(place & 3),
            words,
            attack,
            is_attack: matches!(part, ATTACK_1 | ATTACK_2),
            ..Effect::by(player)
        }
    }

    /// One without words, as what a player may do in a turn is looked at.
    pub fn by(player: usize) -> Self {
        Effect {
            player,
            other: 1 - player,
            place: ACTIVE,
            words: &[],
            attack: &NO_ATTACK,
            is_attack: false,
            heads: 0,
            tails: 0,
            more: 0,
            dealt: 0,
        }
    }

    /// The word at which it stands; None at its end.
    #[inline]
    pub fn word(&self, game: &Game) -> Option<Word> {
        self.words.get(usize::from(game.run.word)).copied()
    }

    /// Whether a whole shield stops a word of an attack (73).
    pub fn is_prevented(&self, game: &Game, word: Word) -> bool {
        let stopped = matches!(
            word,
            Word::Inflict(_)
                | Word::Strip
                | Word::BarAttack
                | Word::BarRetreat
                | Word::Weaken(_)
                | Word::Push
                | Word::Return
        );
        stopped && self.is_attack && game.sides[self.other].on_active.shield == ALL
    }
}
