//! Cards and decks, written by tables.py of specification/data.

use crate::data::{
    ALL, ANYBODY, Archetype, Attack, C, Card, Condition, Count, D, F, Filter, G, Kind, L, M, N, NO_CARD, P, R, Target,
    W, Where, Whose, Word,
};

/// By number.
#[rustfmt::skip]
pub static CARDS: [Card; 234] = [
    NO_CARD,
    // Bulbasaur
    Card { kind: Kind::Basic, hp: 70, element: G, weakness: R, retreat: 1, costs: 0b1, attacks: &[
        Attack { cost: [1, 0, 0, 0, 0, 0, 0, 0], letters: 2, words: &[Word::Hit(40)] },
    ], ..NO_CARD },
    // Ivysaur
    Card { kind: Kind::Evolution, hp: 90, element: G, weakness: R, retreat: 2, from: 1, costs: 0b1, attacks: &[
        Attack { cost: [1, 0, 0, 0, 0, 0, 0, 0], letters: 3, words: &[Word::Hit(60)] },
    ], ..NO_CARD },
    // Venusaur
    Card { kind: Kind::Evolution, hp: 160, element: G, weakness: R, retreat: 3, from: 2, costs: 0b1, attacks: &[
        Attack { cost: [2, 0, 0, 0, 0, 0, 0, 0], letters: 4, words: &[Word::Hit(80), Word::HealSelf(30)] },
    ], ..NO_CARD },
    // Venusaur ex
    Card { kind: Kind::Evolution, hp: 190, element: G, weakness: R, retreat: 3, points: 2, from: 2, costs: 0b1, attacks:
        &[
        Attack { cost: [1, 0, 0, 0, 0, 0, 0, 0], letters: 3, words: &[Word::Hit(60)] },
        Attack { cost: [2, 0, 0, 0, 0, 0, 0, 0], letters: 4, words: &[Word::Hit(100), Word::HealSelf(30)] },
    ], ..NO_CARD },
    // Caterpie
    Card { kind: Kind::Basic, hp: 50, element: G, weakness: R, retreat: 1, costs: 0b0, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Find(Filter { set: 1, hurt: false })] },
    ], ..NO_CARD },
    // Metapod
    Card { kind: Kind::Evolution, hp: 80, element: G, weakness: R, retreat: 2, from: 5, costs: 0b0, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 0], letters: 2, words: &[Word::Hit(30)] },
    ], ..NO_CARD },
    // Butterfree
    Card { kind: Kind::Evolution, hp: 120, element: G, weakness: R, retreat: 1, from: 6, effect: &[Word::HealOwn(20)],
        costs: 0b1, attacks: &[
        Attack { cost: [1, 0, 0, 0, 0, 0, 0, 0], letters: 3, words: &[Word::Hit(60)] },
    ], ..NO_CARD },
    // Weedle
    Card { kind: Kind::Basic, hp: 50, element: G, weakness: R, retreat: 1, costs: 0b1, attacks: &[
        Attack { cost: [1, 0, 0, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(20)] },
    ], ..NO_CARD },
    // Kakuna
    Card { kind: Kind::Evolution, hp: 80, element: G, weakness: R, retreat: 2, from: 8, costs: 0b1, attacks: &[
        Attack { cost: [1, 0, 0, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(30)] },
    ], ..NO_CARD },
    // Beedrill
    Card { kind: Kind::Evolution, hp: 120, element: G, weakness: R, retreat: 1, from: 9, costs: 0b1, attacks: &[
        Attack { cost: [1, 0, 0, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(70)] },
    ], ..NO_CARD },
    // Oddish
    Card { kind: Kind::Basic, hp: 60, element: G, weakness: R, retreat: 1, costs: 0b1, attacks: &[
        Attack { cost: [1, 0, 0, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(20)] },
    ], ..NO_CARD },
    // Gloom
    Card { kind: Kind::Evolution, hp: 80, element: G, weakness: R, retreat: 2, from: 11, costs: 0b1, attacks: &[
        Attack { cost: [1, 0, 0, 0, 0, 0, 0, 0], letters: 2, words: &[Word::Hit(40)] },
    ], ..NO_CARD },
    // Vileplume
    Card { kind: Kind::Evolution, hp: 140, element: G, weakness: R, retreat: 3, from: 12, costs: 0b1, attacks: &[
        Attack { cost: [2, 0, 0, 0, 0, 0, 0, 0], letters: 3, words: &[Word::Hit(80), Word::Inflict(Condition::Asleep)]
            },
    ], ..NO_CARD },
    // Paras
    Card { kind: Kind::Basic, hp: 70, element: G, weakness: R, retreat: 1, costs: 0b1, attacks: &[
        Attack { cost: [1, 0, 0, 0, 0, 0, 0, 0], letters: 2, words: &[Word::Hit(30)] },
    ], ..NO_CARD },
    // Parasect
    Card { kind: Kind::Evolution, hp: 120, element: G, weakness: R, retreat: 2, from: 14, costs: 0b1, attacks: &[
        Attack { cost: [2, 0, 0, 0, 0, 0, 0, 0], letters: 3, words: &[Word::Hit(80)] },
    ], ..NO_CARD },
    // Venonat
    Card { kind: Kind::Basic, hp: 60, element: G, weakness: R, retreat: 1, costs: 0b1, attacks: &[
        Attack { cost: [1, 0, 0, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(20)] },
    ], ..NO_CARD },
    // Venomoth
    Card { kind: Kind::Evolution, hp: 80, element: G, weakness: R, retreat: 1, from: 16, costs: 0b1, attacks: &[
        Attack { cost: [1, 0, 0, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(30), Word::Inflict(Condition::Poisoned)]
            },
    ], ..NO_CARD },
    // Bellsprout
    Card { kind: Kind::Basic, hp: 60, element: G, weakness: R, retreat: 1, costs: 0b1, attacks: &[
        Attack { cost: [1, 0, 0, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(20)] },
    ], ..NO_CARD },
    // Weepinbell
    Card { kind: Kind::Evolution, hp: 90, element: G, weakness: R, retreat: 2, from: 18, costs: 0b1, attacks: &[
        Attack { cost: [1, 0, 0, 0, 0, 0, 0, 0], letters: 2, words: &[Word::Hit(40)] },
    ], ..NO_CARD },
    // Victreebel
    Card { kind: Kind::Evolution, hp: 140, element: G, weakness: R, retreat: 2, from: 19, only_active: true, effect:
        &[Word::Choose(Whose::Foe, Where::Bench, Filter { set: 2, hurt: false }), Word::Swap], costs: 0b1, attacks: &[
        Attack { cost: [1, 0, 0, 0, 0, 0, 0, 0], letters: 2, words: &[Word::Hit(60)] },
    ], ..NO_CARD },
    // Exeggcute
    Card { kind: Kind::Basic, hp: 50, element: G, weakness: R, retreat: 1, costs: 0b1, attacks: &[
        Attack { cost: [1, 0, 0, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(20)] },
    ], ..NO_CARD },
    // Exeggutor
    Card { kind: Kind::Evolution, hp: 130, element: G, weakness: R, retreat: 3, from: 21, costs: 0b1, attacks: &[
        Attack { cost: [1, 0, 0, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Flip(1), Word::More(30, Count::Heads),
            Word::Hit(30)] },
    ], ..NO_CARD },
    // Exeggutor ex
    Card { kind: Kind::Evolution, hp: 160, element: G, weakness: R, retreat: 3, points: 2, from: 21, costs: 0b1,
        attacks: &[
        Attack { cost: [1, 0, 0, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Flip(1), Word::More(40, Count::Heads),
            Word::Hit(40)] },
    ], ..NO_CARD },
    // Tangela
    Card { kind: Kind::Basic, hp: 80, element: G, weakness: R, retreat: 2, costs: 0b1, attacks: &[
        Attack { cost: [1, 0, 0, 0, 0, 0, 0, 0], letters: 2, words: &[Word::Hit(40), Word::HealSelf(10)] },
    ], ..NO_CARD },
    // Scyther
    Card { kind: Kind::Basic, hp: 70, element: G, weakness: R, retreat: 1, costs: 0b1, attacks: &[
        Attack { cost: [1, 0, 0, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(30)] },
    ], ..NO_CARD },
    // Pinsir
    Card { kind: Kind::Basic, hp: 90, element: G, weakness: R, retreat: 2, costs: 0b1, attacks: &[
        Attack { cost: [2, 0, 0, 0, 0, 0, 0, 0], letters: 2, words: &[Word::Flip(2), Word::More(50, Count::Heads),
            Word::Hit(0)] },
    ], ..NO_CARD },
    // Cottonee
    Card { kind: Kind::Basic, hp: 50, element: G, weakness: R, retreat: 1, costs: 0b0, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(10)] },
    ], ..NO_CARD },
    // Whimsicott
    Card { kind: Kind::Evolution, hp: 80, element: G, weakness: R, retreat: 1, from: 27, costs: 0b0, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(40)] },
    ], ..NO_CARD },
    // Petilil
    Card { kind: Kind::Basic, hp: 60, element: G, weakness: R, retreat: 1, costs: 0b1, attacks: &[
        Attack { cost: [1, 0, 0, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(10), Word::HealSelf(10)] },
    ], ..NO_CARD },
    // Lilligant
    Card { kind: Kind::Evolution, hp: 100, element: G, weakness: R, retreat: 1, from: 29, costs: 0b1, attacks: &[
        Attack { cost: [2, 0, 0, 0, 0, 0, 0, 0], letters: 2, words: &[Word::Hit(50), Word::Choose(Whose::Own,
            Where::Bench, Filter { set: 1, hurt: false }), Word::Charge(Target::Chosen, G, 1)] },
    ], ..NO_CARD },
    // Skiddo
    Card { kind: Kind::Basic, hp: 70, element: G, weakness: R, retreat: 1, costs: 0b0, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Flip(1), Word::NeedHeads, Word::Hit(40)] },
    ], ..NO_CARD },
    // Gogoat
    Card { kind: Kind::Evolution, hp: 120, element: G, weakness: R, retreat: 2, from: 31, costs: 0b1, attacks: &[
        Attack { cost: [1, 0, 0, 0, 0, 0, 0, 0], letters: 3, words: &[Word::Hit(70)] },
    ], ..NO_CARD },
    // Charmander
    Card { kind: Kind::Basic, hp: 60, element: R, weakness: W, retreat: 1, costs: 0b10, attacks: &[
        Attack { cost: [0, 1, 0, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(30), Word::Discard(R, 1)] },
    ], ..NO_CARD },
    // Charmeleon
    Card { kind: Kind::Evolution, hp: 90, element: R, weakness: W, retreat: 2, from: 33, costs: 0b10, attacks: &[
        Attack { cost: [0, 1, 0, 0, 0, 0, 0, 0], letters: 3, words: &[Word::Hit(60)] },
    ], ..NO_CARD },
    // Charizard
    Card { kind: Kind::Evolution, hp: 150, element: R, weakness: W, retreat: 2, from: 34, costs: 0b10, attacks: &[
        Attack { cost: [0, 2, 0, 0, 0, 0, 0, 0], letters: 4, words: &[Word::Hit(150), Word::Discard(R, 2)] },
    ], ..NO_CARD },
    // Charizard ex
    Card { kind: Kind::Evolution, hp: 180, element: R, weakness: W, retreat: 2, points: 2, from: 34, costs: 0b10,
        attacks: &[
        Attack { cost: [0, 1, 0, 0, 0, 0, 0, 0], letters: 3, words: &[Word::Hit(60)] },
        Attack { cost: [0, 2, 0, 0, 0, 0, 0, 0], letters: 4, words: &[Word::Hit(200), Word::Discard(R, 2)] },
    ], ..NO_CARD },
    // Vulpix
    Card { kind: Kind::Basic, hp: 50, element: R, weakness: W, retreat: 1, costs: 0b0, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Flip(1), Word::NeedHeads, Word::BarAttack]
            },
    ], ..NO_CARD },
    // Ninetales
    Card { kind: Kind::Evolution, hp: 90, element: R, weakness: W, retreat: 1, from: 37, costs: 0b10, attacks: &[
        Attack { cost: [0, 2, 0, 0, 0, 0, 0, 0], letters: 2, words: &[Word::Hit(90), Word::Discard(R, 1)] },
    ], ..NO_CARD },
    // Growlithe
    Card { kind: Kind::Basic, hp: 70, element: R, weakness: W, retreat: 1, costs: 0b0, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 0], letters: 2, words: &[Word::Hit(20)] },
    ], ..NO_CARD },
    // Arcanine
    Card { kind: Kind::Evolution, hp: 130, element: R, weakness: W, retreat: 2, from: 39, costs: 0b10, attacks: &[
        Attack { cost: [0, 2, 0, 0, 0, 0, 0, 0], letters: 3, words: &[Word::Hit(100), Word::Hurt(20)] },
    ], ..NO_CARD },
    // Arcanine ex
    Card { kind: Kind::Evolution, hp: 150, element: R, weakness: W, retreat: 2, points: 2, from: 39, costs: 0b10,
        attacks: &[
        Attack { cost: [0, 2, 0, 0, 0, 0, 0, 0], letters: 3, words: &[Word::Hit(120), Word::Hurt(20)] },
    ], ..NO_CARD },
    // Ponyta
    Card { kind: Kind::Basic, hp: 60, element: R, weakness: W, retreat: 1, costs: 0b10, attacks: &[
        Attack { cost: [0, 1, 0, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(20)] },
    ], ..NO_CARD },
    // Rapidash
    Card { kind: Kind::Evolution, hp: 100, element: R, weakness: W, retreat: 1, from: 42, costs: 0b10, attacks: &[
        Attack { cost: [0, 1, 0, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(40)] },
    ], ..NO_CARD },
    // Magmar
    Card { kind: Kind::Basic, hp: 80, element: R, weakness: W, retreat: 2, costs: 0b10, attacks: &[
        Attack { cost: [0, 2, 0, 0, 0, 0, 0, 0], letters: 2, words: &[Word::Hit(50)] },
    ], ..NO_CARD },
    // Flareon
    Card { kind: Kind::Evolution, hp: 120, element: R, weakness: W, retreat: 2, from: 206, costs: 0b10, attacks: &[
        Attack { cost: [0, 1, 0, 0, 0, 0, 0, 0], letters: 3, words: &[Word::Hit(110), Word::Discard(R, 1)] },
    ], ..NO_CARD },
    // Moltres
    Card { kind: Kind::Basic, hp: 100, element: R, weakness: L, retreat: 1, costs: 0b10, attacks: &[
        Attack { cost: [0, 1, 0, 0, 0, 0, 0, 0], letters: 3, words: &[Word::Flip(1), Word::NeedHeads, Word::Hit(130)] },
    ], ..NO_CARD },
    // Moltres ex
    Card { kind: Kind::Basic, hp: 140, element: R, weakness: L, retreat: 2, points: 2, costs: 0b10, attacks: &[
        Attack { cost: [0, 1, 0, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Flip(3), Word::Spread(R)] },
        Attack { cost: [0, 1, 0, 0, 0, 0, 0, 0], letters: 3, words: &[Word::Hit(70)] },
    ], ..NO_CARD },
    // Heatmor
    Card { kind: Kind::Basic, hp: 80, element: R, weakness: W, retreat: 1, costs: 0b10, attacks: &[
        Attack { cost: [0, 1, 0, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(30)] },
    ], ..NO_CARD },
    // Salandit
    Card { kind: Kind::Basic, hp: 60, element: R, weakness: W, retreat: 1, costs: 0b10, attacks: &[
        Attack { cost: [0, 1, 0, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(20)] },
    ], ..NO_CARD },
    // Salazzle
    Card { kind: Kind::Evolution, hp: 90, element: R, weakness: W, retreat: 1, from: 49, costs: 0b10, attacks: &[
        Attack { cost: [0, 1, 0, 0, 0, 0, 0, 0], letters: 2, words: &[Word::Hit(60)] },
    ], ..NO_CARD },
    // Sizzlipede
    Card { kind: Kind::Basic, hp: 60, element: R, weakness: W, retreat: 1, costs: 0b0, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(10)] },
    ], ..NO_CARD },
    // Centiskorch
    Card { kind: Kind::Evolution, hp: 130, element: R, weakness: W, retreat: 3, from: 51, costs: 0b10, attacks: &[
        Attack { cost: [0, 1, 0, 0, 0, 0, 0, 0], letters: 4, words: &[Word::Hit(130), Word::Discard(R, 1)] },
    ], ..NO_CARD },
    // Squirtle
    Card { kind: Kind::Basic, hp: 60, element: W, weakness: L, retreat: 1, costs: 0b100, attacks: &[
        Attack { cost: [0, 0, 1, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(20)] },
    ], ..NO_CARD },
    // Wartortle
    Card { kind: Kind::Evolution, hp: 80, element: W, weakness: L, retreat: 1, from: 53, costs: 0b100, attacks: &[
        Attack { cost: [0, 0, 1, 0, 0, 0, 0, 0], letters: 2, words: &[Word::Hit(40)] },
    ], ..NO_CARD },
    // Blastoise
    Card { kind: Kind::Evolution, hp: 150, element: W, weakness: L, retreat: 3, from: 54, costs: 0b100, attacks: &[
        Attack { cost: [0, 0, 2, 0, 0, 0, 0, 0], letters: 3, words: &[Word::More(60, Count::Extra(W, 2)), Word::Hit(80)]
            },
    ], ..NO_CARD },
    // Blastoise ex
    Card { kind: Kind::Evolution, hp: 180, element: W, weakness: L, retreat: 3, points: 2, from: 54, costs: 0b100,
        attacks: &[
        Attack { cost: [0, 0, 1, 0, 0, 0, 0, 0], letters: 2, words: &[Word::Hit(40)] },
        Attack { cost: [0, 0, 2, 0, 0, 0, 0, 0], letters: 3, words: &[Word::More(60, Count::Extra(W, 2)),
            Word::Hit(100)] },
    ], ..NO_CARD },
    // Psyduck
    Card { kind: Kind::Basic, hp: 60, element: W, weakness: L, retreat: 1, costs: 0b0, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(10), Word::Gag] },
    ], ..NO_CARD },
    // Golduck
    Card { kind: Kind::Evolution, hp: 90, element: W, weakness: L, retreat: 1, from: 57, costs: 0b100, attacks: &[
        Attack { cost: [0, 0, 2, 0, 0, 0, 0, 0], letters: 2, words: &[Word::Hit(70)] },
    ], ..NO_CARD },
    // Poliwag
    Card { kind: Kind::Basic, hp: 60, element: W, weakness: L, retreat: 1, costs: 0b0, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(10)] },
    ], ..NO_CARD },
    // Poliwhirl
    Card { kind: Kind::Evolution, hp: 90, element: W, weakness: L, retreat: 2, from: 59, costs: 0b0, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 0], letters: 2, words: &[Word::Hit(40)] },
    ], ..NO_CARD },
    // Poliwrath
    Card { kind: Kind::Evolution, hp: 150, element: W, weakness: L, retreat: 2, from: 60, counter: 20, costs: 0b100,
        attacks: &[
        Attack { cost: [0, 0, 1, 0, 0, 0, 0, 0], letters: 3, words: &[Word::Hit(80)] },
    ], ..NO_CARD },
    // Tentacool
    Card { kind: Kind::Basic, hp: 60, element: W, weakness: L, retreat: 1, costs: 0b100, attacks: &[
        Attack { cost: [0, 0, 1, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(20)] },
    ], ..NO_CARD },
    // Tentacruel
    Card { kind: Kind::Evolution, hp: 110, element: W, weakness: L, retreat: 2, from: 62, costs: 0b100, attacks: &[
        Attack { cost: [0, 0, 1, 0, 0, 0, 0, 0], letters: 2, words: &[Word::Hit(50), Word::Inflict(Condition::Poisoned)]
            },
    ], ..NO_CARD },
    // Seel
    Card { kind: Kind::Basic, hp: 80, element: W, weakness: L, retreat: 2, costs: 0b0, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 0], letters: 2, words: &[Word::Hit(30)] },
    ], ..NO_CARD },
    // Dewgong
    Card { kind: Kind::Evolution, hp: 120, element: W, weakness: L, retreat: 3, from: 64, costs: 0b100, attacks: &[
        Attack { cost: [0, 0, 3, 0, 0, 0, 0, 0], letters: 3, words: &[Word::Hit(90)] },
    ], ..NO_CARD },
    // Shellder
    Card { kind: Kind::Basic, hp: 60, element: W, weakness: L, retreat: 1, costs: 0b100, attacks: &[
        Attack { cost: [0, 0, 1, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(20)] },
    ], ..NO_CARD },
    // Cloyster
    Card { kind: Kind::Evolution, hp: 120, element: W, weakness: L, retreat: 3, from: 66, armour: 10, costs: 0b100,
        attacks: &[
        Attack { cost: [0, 0, 2, 0, 0, 0, 0, 0], letters: 3, words: &[Word::Hit(70)] },
    ], ..NO_CARD },
    // Krabby
    Card { kind: Kind::Basic, hp: 70, element: W, weakness: L, retreat: 2, costs: 0b100, attacks: &[
        Attack { cost: [0, 0, 1, 0, 0, 0, 0, 0], letters: 2, words: &[Word::Hit(40)] },
    ], ..NO_CARD },
    // Kingler
    Card { kind: Kind::Evolution, hp: 120, element: W, weakness: L, retreat: 3, from: 68, costs: 0b100, attacks: &[
        Attack { cost: [0, 0, 2, 0, 0, 0, 0, 0], letters: 3, words: &[Word::Flip(2), Word::More(80, Count::All),
            Word::Hit(80)] },
    ], ..NO_CARD },
    // Horsea
    Card { kind: Kind::Basic, hp: 60, element: W, weakness: L, retreat: 1, costs: 0b100, attacks: &[
        Attack { cost: [0, 0, 1, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(20)] },
    ], ..NO_CARD },
    // Seadra
    Card { kind: Kind::Evolution, hp: 70, element: W, weakness: L, retreat: 1, from: 70, costs: 0b100, attacks: &[
        Attack { cost: [0, 0, 3, 0, 0, 0, 0, 0], letters: 3, words: &[Word::Choose(Whose::Foe, Where::Any, ANYBODY),
            Word::StrikeChosen(50)] },
    ], ..NO_CARD },
    // Goldeen
    Card { kind: Kind::Basic, hp: 60, element: W, weakness: L, retreat: 1, costs: 0b0, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(10)] },
    ], ..NO_CARD },
    // Seaking
    Card { kind: Kind::Evolution, hp: 100, element: W, weakness: L, retreat: 1, from: 72, costs: 0b100, attacks: &[
        Attack { cost: [0, 0, 1, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Flip(1), Word::NeedHeads, Word::Hit(80)] },
    ], ..NO_CARD },
    // Staryu
    Card { kind: Kind::Basic, hp: 50, element: W, weakness: L, retreat: 1, costs: 0b100, attacks: &[
        Attack { cost: [0, 0, 1, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(20)] },
    ], ..NO_CARD },
    // Starmie
    Card { kind: Kind::Evolution, hp: 90, element: W, weakness: L, retreat: 0, from: 74, costs: 0b100, attacks: &[
        Attack { cost: [0, 0, 1, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(40)] },
    ], ..NO_CARD },
    // Starmie ex
    Card { kind: Kind::Evolution, hp: 130, element: W, weakness: L, retreat: 0, points: 2, from: 74, costs: 0b100,
        attacks: &[
        Attack { cost: [0, 0, 2, 0, 0, 0, 0, 0], letters: 2, words: &[Word::Hit(90)] },
    ], ..NO_CARD },
    // Magikarp
    Card { kind: Kind::Basic, hp: 30, element: W, weakness: L, retreat: 1, costs: 0b0, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(10)] },
    ], ..NO_CARD },
    // Gyarados
    Card { kind: Kind::Evolution, hp: 150, element: W, weakness: L, retreat: 4, from: 77, costs: 0b100, attacks: &[
        Attack { cost: [0, 0, 4, 0, 0, 0, 0, 0], letters: 4, words: &[Word::Hit(100), Word::Strip] },
    ], ..NO_CARD },
    // Lapras
    Card { kind: Kind::Basic, hp: 100, element: W, weakness: L, retreat: 2, costs: 0b100, attacks: &[
        Attack { cost: [0, 0, 1, 0, 0, 0, 0, 0], letters: 1, words: &[Word::More(70, Count::Extra(W, 3)), Word::Hit(20)]
            },
    ], ..NO_CARD },
    // Vaporeon
    Card { kind: Kind::Evolution, hp: 130, element: W, weakness: L, retreat: 2, from: 206, costs: 0b100, attacks: &[
        Attack { cost: [0, 0, 1, 0, 0, 0, 0, 0], letters: 3, words: &[Word::Hit(60), Word::HealSelf(30)] },
    ], ..NO_CARD },
    // Omanyte
    Card { kind: Kind::Evolution, hp: 90, element: W, weakness: L, retreat: 1, from: 216, costs: 0b100, attacks: &[
        Attack { cost: [0, 0, 1, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(40)] },
    ], ..NO_CARD },
    // Omastar
    Card { kind: Kind::Evolution, hp: 140, element: W, weakness: L, retreat: 2, from: 81, costs: 0b100, attacks: &[
        Attack { cost: [0, 0, 1, 0, 0, 0, 0, 0], letters: 3, words: &[Word::Hit(70), Word::BarAttack] },
    ], ..NO_CARD },
    // Articuno
    Card { kind: Kind::Basic, hp: 100, element: W, weakness: L, retreat: 1, costs: 0b100, attacks: &[
        Attack { cost: [0, 0, 2, 0, 0, 0, 0, 0], letters: 3, words: &[Word::Hit(60), Word::Flip(1), Word::NeedHeads,
            Word::Inflict(Condition::Paralysed)] },
    ], ..NO_CARD },
    // Articuno ex
    Card { kind: Kind::Basic, hp: 140, element: W, weakness: L, retreat: 2, points: 2, costs: 0b100, attacks: &[
        Attack { cost: [0, 0, 1, 0, 0, 0, 0, 0], letters: 2, words: &[Word::Hit(40)] },
        Attack { cost: [0, 0, 3, 0, 0, 0, 0, 0], letters: 3, words: &[Word::Hit(80), Word::StrikeBench(10)] },
    ], ..NO_CARD },
    // Ducklett
    Card { kind: Kind::Basic, hp: 50, element: W, weakness: L, retreat: 1, costs: 0b0, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 0], letters: 2, words: &[Word::Hit(30)] },
    ], ..NO_CARD },
    // Swanna
    Card { kind: Kind::Evolution, hp: 90, element: W, weakness: L, retreat: 1, from: 85, costs: 0b0, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 0], letters: 3, words: &[Word::Hit(70)] },
    ], ..NO_CARD },
    // Froakie
    Card { kind: Kind::Basic, hp: 60, element: W, weakness: L, retreat: 1, costs: 0b0, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(10)] },
    ], ..NO_CARD },
    // Frogadier
    Card { kind: Kind::Evolution, hp: 80, element: W, weakness: L, retreat: 1, from: 87, costs: 0b0, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(30)] },
    ], ..NO_CARD },
    // Greninja
    Card { kind: Kind::Evolution, hp: 120, element: W, weakness: L, retreat: 1, from: 88, effect:
        &[Word::Choose(Whose::Foe, Where::Any, ANYBODY), Word::StrikeChosen(20)], costs: 0b100, attacks: &[
        Attack { cost: [0, 0, 1, 0, 0, 0, 0, 0], letters: 2, words: &[Word::Hit(60)] },
    ], ..NO_CARD },
    // Pyukumuku
    Card { kind: Kind::Basic, hp: 70, element: W, weakness: L, retreat: 1, costs: 0b100, attacks: &[
        Attack { cost: [0, 0, 1, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(30)] },
    ], ..NO_CARD },
    // Bruxish
    Card { kind: Kind::Basic, hp: 90, element: W, weakness: L, retreat: 1, costs: 0b100, attacks: &[
        Attack { cost: [0, 0, 1, 0, 0, 0, 0, 0], letters: 2, words: &[Word::More(60, Count::HurtFoe), Word::Hit(10)] },
    ], ..NO_CARD },
    // Snom
    Card { kind: Kind::Basic, hp: 50, element: W, weakness: M, retreat: 1, costs: 0b0, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(10)] },
    ], ..NO_CARD },
    // Frosmoth
    Card { kind: Kind::Evolution, hp: 90, element: W, weakness: M, retreat: 1, from: 92, costs: 0b100, attacks: &[
        Attack { cost: [0, 0, 1, 0, 0, 0, 0, 0], letters: 2, words: &[Word::Hit(40), Word::Inflict(Condition::Asleep)]
            },
    ], ..NO_CARD },
    // Pikachu
    Card { kind: Kind::Basic, hp: 60, element: L, weakness: F, retreat: 1, costs: 0b1000, attacks: &[
        Attack { cost: [0, 0, 0, 1, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(20)] },
    ], ..NO_CARD },
    // Raichu
    Card { kind: Kind::Evolution, hp: 100, element: L, weakness: F, retreat: 1, from: 94, costs: 0b1000, attacks: &[
        Attack { cost: [0, 0, 0, 3, 0, 0, 0, 0], letters: 3, words: &[Word::Hit(140), Word::DiscardAll] },
    ], ..NO_CARD },
    // Pikachu ex
    Card { kind: Kind::Basic, hp: 120, element: L, weakness: F, retreat: 1, points: 2, costs: 0b1000, attacks: &[
        Attack { cost: [0, 0, 0, 2, 0, 0, 0, 0], letters: 2, words: &[Word::More(30, Count::Bench(Filter { set: 3, hurt:
            false })), Word::Hit(0)] },
    ], ..NO_CARD },
    // Magnemite
    Card { kind: Kind::Basic, hp: 60, element: L, weakness: F, retreat: 1, costs: 0b1000, attacks: &[
        Attack { cost: [0, 0, 0, 1, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(20)] },
    ], ..NO_CARD },
    // Magneton
    Card { kind: Kind::Evolution, hp: 80, element: L, weakness: F, retreat: 2, from: 97, effect:
        &[Word::Charge(Target::Own, L, 1)], costs: 0b1000, attacks: &[
        Attack { cost: [0, 0, 0, 1, 0, 0, 0, 0], letters: 4, words: &[Word::Hit(60)] },
    ], ..NO_CARD },
    // Voltorb
    Card { kind: Kind::Basic, hp: 60, element: L, weakness: F, retreat: 1, costs: 0b1000, attacks: &[
        Attack { cost: [0, 0, 0, 1, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(20)] },
    ], ..NO_CARD },
    // Electrode
    Card { kind: Kind::Evolution, hp: 80, element: L, weakness: F, retreat: 0, from: 99, costs: 0b1000, attacks: &[
        Attack { cost: [0, 0, 0, 2, 0, 0, 0, 0], letters: 2, words: &[Word::Hit(70)] },
    ], ..NO_CARD },
    // Electabuzz
    Card { kind: Kind::Basic, hp: 70, element: L, weakness: F, retreat: 1, costs: 0b1000, attacks: &[
        Attack { cost: [0, 0, 0, 2, 0, 0, 0, 0], letters: 2, words: &[Word::Flip(1), Word::More(40, Count::Heads),
            Word::Hit(40), Word::NeedTails, Word::Hurt(20)] },
    ], ..NO_CARD },
    // Jolteon
    Card { kind: Kind::Evolution, hp: 90, element: L, weakness: F, retreat: 1, from: 206, costs: 0b1000, attacks: &[
        Attack { cost: [0, 0, 0, 1, 0, 0, 0, 0], letters: 2, words: &[Word::Flip(4), Word::More(40, Count::Heads),
            Word::Hit(0)] },
    ], ..NO_CARD },
    // Zapdos
    Card { kind: Kind::Basic, hp: 100, element: L, weakness: L, retreat: 1, costs: 0b1000, attacks: &[
        Attack { cost: [0, 0, 0, 2, 0, 0, 0, 0], letters: 3, words: &[Word::Hit(100), Word::Choose(Whose::Own,
            Where::Bench, ANYBODY), Word::StrikeChosen(30)] },
    ], ..NO_CARD },
    // Zapdos ex
    Card { kind: Kind::Basic, hp: 130, element: L, weakness: L, retreat: 1, points: 2, costs: 0b1000, attacks: &[
        Attack { cost: [0, 0, 0, 1, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(20)] },
        Attack { cost: [0, 0, 0, 3, 0, 0, 0, 0], letters: 3, words: &[Word::Flip(4), Word::More(50, Count::Heads),
            Word::Hit(0)] },
    ], ..NO_CARD },
    // Blitzle
    Card { kind: Kind::Basic, hp: 60, element: L, weakness: F, retreat: 1, costs: 0b1000, attacks: &[
        Attack { cost: [0, 0, 0, 1, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(20)] },
    ], ..NO_CARD },
    // Zebstrika
    Card { kind: Kind::Evolution, hp: 90, element: L, weakness: F, retreat: 1, from: 105, costs: 0b1000, attacks: &[
        Attack { cost: [0, 0, 0, 1, 0, 0, 0, 0], letters: 1, words: &[Word::Choose(Whose::Foe, Where::Any, ANYBODY),
            Word::StrikeChosen(30)] },
    ], ..NO_CARD },
    // Tynamo
    Card { kind: Kind::Basic, hp: 30, element: L, weakness: F, retreat: 1, costs: 0b1000, attacks: &[
        Attack { cost: [0, 0, 0, 1, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(30)] },
    ], ..NO_CARD },
    // Eelektrik
    Card { kind: Kind::Evolution, hp: 80, element: L, weakness: F, retreat: 2, from: 107, costs: 0b1000, attacks: &[
        Attack { cost: [0, 0, 0, 1, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(40)] },
    ], ..NO_CARD },
    // Eelektross
    Card { kind: Kind::Evolution, hp: 140, element: L, weakness: F, retreat: 3, from: 108, costs: 0b1000, attacks: &[
        Attack { cost: [0, 0, 0, 2, 0, 0, 0, 0], letters: 3, words: &[Word::Hit(80), Word::Flip(1), Word::NeedHeads,
            Word::Inflict(Condition::Paralysed)] },
    ], ..NO_CARD },
    // Helioptile
    Card { kind: Kind::Basic, hp: 60, element: L, weakness: F, retreat: 1, costs: 0b1000, attacks: &[
        Attack { cost: [0, 0, 0, 1, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(20)] },
    ], ..NO_CARD },
    // Heliolisk
    Card { kind: Kind::Evolution, hp: 90, element: L, weakness: F, retreat: 1, from: 110, costs: 0b0, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 0], letters: 2, words: &[Word::Flip(1), Word::More(40, Count::Heads),
            Word::Hit(40)] },
    ], ..NO_CARD },
    // Pincurchin
    Card { kind: Kind::Basic, hp: 70, element: L, weakness: F, retreat: 1, costs: 0b1000, attacks: &[
        Attack { cost: [0, 0, 0, 2, 0, 0, 0, 0], letters: 2, words: &[Word::Hit(30), Word::Flip(1), Word::NeedHeads,
            Word::Inflict(Condition::Paralysed)] },
    ], ..NO_CARD },
    // Clefairy
    Card { kind: Kind::Basic, hp: 60, element: P, weakness: M, retreat: 1, costs: 0b10000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 1, 0, 0, 0], letters: 1, words: &[Word::Hit(20)] },
    ], ..NO_CARD },
    // Clefable
    Card { kind: Kind::Evolution, hp: 100, element: P, weakness: M, retreat: 1, from: 113, costs: 0b10000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 1, 0, 0, 0], letters: 1, words: &[Word::Hit(40)] },
    ], ..NO_CARD },
    // Abra
    Card { kind: Kind::Basic, hp: 60, element: P, weakness: D, retreat: 1, costs: 0b0, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Choose(Whose::Own, Where::Bench, ANYBODY),
            Word::Swap] },
    ], ..NO_CARD },
    // Kadabra
    Card { kind: Kind::Evolution, hp: 80, element: P, weakness: D, retreat: 1, from: 115, costs: 0b10000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 1, 0, 0, 0], letters: 3, words: &[Word::Hit(60)] },
    ], ..NO_CARD },
    // Alakazam
    Card { kind: Kind::Evolution, hp: 130, element: P, weakness: D, retreat: 2, from: 116, costs: 0b10000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 1, 0, 0, 0], letters: 3, words: &[Word::More(30, Count::FoeEnergy), Word::Hit(60)]
            },
    ], ..NO_CARD },
    // Slowpoke
    Card { kind: Kind::Basic, hp: 70, element: P, weakness: D, retreat: 2, costs: 0b10000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 1, 0, 0, 0], letters: 2, words: &[Word::Hit(30)] },
    ], ..NO_CARD },
    // Slowbro
    Card { kind: Kind::Evolution, hp: 130, element: P, weakness: D, retreat: 3, from: 118, costs: 0b10000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 2, 0, 0, 0], letters: 3, words: &[Word::Hit(80)] },
    ], ..NO_CARD },
    // Gastly
    Card { kind: Kind::Basic, hp: 60, element: P, weakness: D, retreat: 1, costs: 0b10000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 1, 0, 0, 0], letters: 1, words: &[Word::Hit(20)] },
    ], ..NO_CARD },
    // Haunter
    Card { kind: Kind::Evolution, hp: 80, element: P, weakness: D, retreat: 1, from: 120, costs: 0b10000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 1, 0, 0, 0], letters: 1, words: &[Word::Hit(30)] },
    ], ..NO_CARD },
    // Gengar
    Card { kind: Kind::Evolution, hp: 130, element: P, weakness: D, retreat: 2, from: 121, costs: 0b10000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 1, 0, 0, 0], letters: 1, words: &[Word::Hit(50), Word::Gag] },
    ], ..NO_CARD },
    // Gengar ex
    Card { kind: Kind::Evolution, hp: 170, element: P, weakness: D, retreat: 2, points: 2, from: 121, silence: true,
        costs: 0b10000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 3, 0, 0, 0], letters: 3, words: &[Word::Hit(100)] },
    ], ..NO_CARD },
    // Drowzee
    Card { kind: Kind::Basic, hp: 70, element: P, weakness: D, retreat: 2, costs: 0b10000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 1, 0, 0, 0], letters: 2, words: &[Word::Hit(30)] },
    ], ..NO_CARD },
    // Hypno
    Card { kind: Kind::Evolution, hp: 100, element: P, weakness: D, retreat: 2, from: 124, effect: &[Word::Flip(1),
        Word::NeedHeads, Word::Inflict(Condition::Asleep)], costs: 0b10000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 2, 0, 0, 0], letters: 3, words: &[Word::Hit(50)] },
    ], ..NO_CARD },
    // Mr. Mime
    Card { kind: Kind::Basic, hp: 80, element: P, weakness: D, retreat: 1, costs: 0b10000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 1, 0, 0, 0], letters: 2, words: &[Word::Hit(30), Word::Shield(20)] },
    ], ..NO_CARD },
    // Jynx
    Card { kind: Kind::Basic, hp: 80, element: P, weakness: D, retreat: 1, costs: 0b10000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 1, 0, 0, 0], letters: 2, words: &[Word::More(20, Count::FoeEnergy), Word::Hit(30)]
            },
    ], ..NO_CARD },
    // Mewtwo
    Card { kind: Kind::Basic, hp: 120, element: P, weakness: D, retreat: 2, costs: 0b10000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 2, 0, 0, 0], letters: 4, words: &[Word::Hit(120), Word::Discard(P, 2)] },
    ], ..NO_CARD },
    // Mewtwo ex
    Card { kind: Kind::Basic, hp: 150, element: P, weakness: D, retreat: 2, points: 2, costs: 0b10000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 1, 0, 0, 0], letters: 2, words: &[Word::Hit(50)] },
        Attack { cost: [0, 0, 0, 0, 2, 0, 0, 0], letters: 4, words: &[Word::Hit(150), Word::Discard(P, 2)] },
    ], ..NO_CARD },
    // Ralts
    Card { kind: Kind::Basic, hp: 60, element: P, weakness: D, retreat: 1, costs: 0b0, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(10)] },
    ], ..NO_CARD },
    // Kirlia
    Card { kind: Kind::Evolution, hp: 80, element: P, weakness: D, retreat: 1, from: 130, costs: 0b10000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 1, 0, 0, 0], letters: 2, words: &[Word::Hit(30)] },
    ], ..NO_CARD },
    // Gardevoir
    Card { kind: Kind::Evolution, hp: 110, element: P, weakness: D, retreat: 2, from: 131, effect:
        &[Word::Charge(Target::Active, P, 1)], costs: 0b10000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 2, 0, 0, 0], letters: 3, words: &[Word::Hit(60)] },
    ], ..NO_CARD },
    // Woobat
    Card { kind: Kind::Basic, hp: 60, element: P, weakness: D, retreat: 1, costs: 0b0, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(10)] },
    ], ..NO_CARD },
    // Swoobat
    Card { kind: Kind::Evolution, hp: 90, element: P, weakness: D, retreat: 1, from: 133, costs: 0b10000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 1, 0, 0, 0], letters: 2, words: &[Word::Hit(60)] },
    ], ..NO_CARD },
    // Golett
    Card { kind: Kind::Basic, hp: 90, element: P, weakness: D, retreat: 3, costs: 0b10000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 1, 0, 0, 0], letters: 3, words: &[Word::Hit(50)] },
    ], ..NO_CARD },
    // Golurk
    Card { kind: Kind::Evolution, hp: 140, element: P, weakness: D, retreat: 4, from: 135, costs: 0b10000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 2, 0, 0, 0], letters: 4, words: &[Word::Flip(2), Word::More(100, Count::Heads),
            Word::Hit(0)] },
    ], ..NO_CARD },
    // Sandshrew
    Card { kind: Kind::Basic, hp: 70, element: F, weakness: G, retreat: 1, costs: 0b100000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 1, 0, 0], letters: 1, words: &[Word::Hit(10)] },
    ], ..NO_CARD },
    // Sandslash
    Card { kind: Kind::Evolution, hp: 100, element: F, weakness: G, retreat: 2, from: 137, costs: 0b100000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 2, 0, 0], letters: 2, words: &[Word::Hit(70)] },
    ], ..NO_CARD },
    // Diglett
    Card { kind: Kind::Basic, hp: 50, element: F, weakness: G, retreat: 1, costs: 0b100000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 1, 0, 0], letters: 1, words: &[Word::Hit(20)] },
    ], ..NO_CARD },
    // Dugtrio
    Card { kind: Kind::Evolution, hp: 70, element: F, weakness: G, retreat: 1, from: 139, costs: 0b100000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 1, 0, 0], letters: 1, words: &[Word::Hit(40), Word::Flip(1), Word::NeedHeads,
            Word::Shield(ALL)] },
    ], ..NO_CARD },
    // Mankey
    Card { kind: Kind::Basic, hp: 60, element: F, weakness: P, retreat: 1, costs: 0b100000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 1, 0, 0], letters: 1, words: &[Word::Hit(20)] },
    ], ..NO_CARD },
    // Primeape
    Card { kind: Kind::Evolution, hp: 90, element: F, weakness: P, retreat: 1, from: 141, costs: 0b100000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 2, 0, 0], letters: 2, words: &[Word::More(60, Count::HurtSelf), Word::Hit(40)] },
    ], ..NO_CARD },
    // Machop
    Card { kind: Kind::Basic, hp: 70, element: F, weakness: P, retreat: 2, costs: 0b100000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 1, 0, 0], letters: 1, words: &[Word::Hit(20)] },
    ], ..NO_CARD },
    // Machoke
    Card { kind: Kind::Evolution, hp: 100, element: F, weakness: P, retreat: 2, from: 143, costs: 0b100000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 2, 0, 0], letters: 2, words: &[Word::Hit(50)] },
    ], ..NO_CARD },
    // Machamp
    Card { kind: Kind::Evolution, hp: 150, element: F, weakness: P, retreat: 3, from: 144, costs: 0b100000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 3, 0, 0], letters: 3, words: &[Word::Hit(100)] },
    ], ..NO_CARD },
    // Machamp ex
    Card { kind: Kind::Evolution, hp: 180, element: F, weakness: P, retreat: 3, points: 2, from: 144, costs: 0b100000,
        attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 3, 0, 0], letters: 3, words: &[Word::Hit(120)] },
    ], ..NO_CARD },
    // Geodude
    Card { kind: Kind::Basic, hp: 70, element: F, weakness: G, retreat: 2, costs: 0b100000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 1, 0, 0], letters: 1, words: &[Word::Hit(20)] },
    ], ..NO_CARD },
    // Graveler
    Card { kind: Kind::Evolution, hp: 100, element: F, weakness: G, retreat: 3, from: 147, costs: 0b100000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 1, 0, 0], letters: 3, words: &[Word::Hit(70)] },
    ], ..NO_CARD },
    // Golem
    Card { kind: Kind::Evolution, hp: 160, element: F, weakness: G, retreat: 4, from: 148, costs: 0b100000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 1, 0, 0], letters: 4, words: &[Word::Hit(150), Word::Hurt(50)] },
    ], ..NO_CARD },
    // Onix
    Card { kind: Kind::Basic, hp: 110, element: F, weakness: G, retreat: 4, costs: 0b100000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 3, 0, 0], letters: 3, words: &[Word::Hit(70)] },
    ], ..NO_CARD },
    // Cubone
    Card { kind: Kind::Basic, hp: 60, element: F, weakness: G, retreat: 1, costs: 0b0, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Weaken(20)] },
    ], ..NO_CARD },
    // Marowak
    Card { kind: Kind::Evolution, hp: 100, element: F, weakness: G, retreat: 1, from: 151, costs: 0b100000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 1, 0, 0], letters: 1, words: &[Word::Hit(40)] },
    ], ..NO_CARD },
    // Marowak ex
    Card { kind: Kind::Evolution, hp: 140, element: F, weakness: G, retreat: 1, points: 2, from: 151, costs: 0b100000,
        attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 2, 0, 0], letters: 2, words: &[Word::Flip(2), Word::More(80, Count::Heads),
            Word::Hit(0)] },
    ], ..NO_CARD },
    // Hitmonlee
    Card { kind: Kind::Basic, hp: 80, element: F, weakness: P, retreat: 1, costs: 0b100000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 1, 0, 0], letters: 1, words: &[Word::Choose(Whose::Foe, Where::Bench, ANYBODY),
            Word::StrikeChosen(30)] },
    ], ..NO_CARD },
    // Hitmonchan
    Card { kind: Kind::Basic, hp: 80, element: F, weakness: P, retreat: 1, costs: 0b100000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 1, 0, 0], letters: 1, words: &[Word::Hit(30)] },
    ], ..NO_CARD },
    // Rhyhorn
    Card { kind: Kind::Basic, hp: 80, element: F, weakness: G, retreat: 3, costs: 0b100000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 2, 0, 0], letters: 3, words: &[Word::Hit(60)] },
    ], ..NO_CARD },
    // Rhydon
    Card { kind: Kind::Evolution, hp: 120, element: F, weakness: G, retreat: 4, from: 156, costs: 0b100000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 3, 0, 0], letters: 4, words: &[Word::Hit(100)] },
    ], ..NO_CARD },
    // Kabuto
    Card { kind: Kind::Evolution, hp: 90, element: F, weakness: G, retreat: 1, from: 217, costs: 0b100000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 1, 0, 0], letters: 1, words: &[Word::Hit(40)] },
    ], ..NO_CARD },
    // Kabutops
    Card { kind: Kind::Evolution, hp: 140, element: F, weakness: G, retreat: 1, from: 158, costs: 0b100000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 1, 0, 0], letters: 1, words: &[Word::Hit(50), Word::HealDealt] },
    ], ..NO_CARD },
    // Mienfoo
    Card { kind: Kind::Basic, hp: 60, element: F, weakness: P, retreat: 1, costs: 0b0, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(20)] },
    ], ..NO_CARD },
    // Mienshao
    Card { kind: Kind::Evolution, hp: 80, element: F, weakness: P, retreat: 1, from: 160, costs: 0b0, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(40)] },
    ], ..NO_CARD },
    // Clobbopus
    Card { kind: Kind::Basic, hp: 80, element: F, weakness: P, retreat: 2, costs: 0b100000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 1, 0, 0], letters: 2, words: &[Word::Hit(30)] },
    ], ..NO_CARD },
    // Grapploct
    Card { kind: Kind::Evolution, hp: 130, element: F, weakness: P, retreat: 3, from: 162, costs: 0b100000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 2, 0, 0], letters: 3, words: &[Word::Hit(70), Word::Push] },
    ], ..NO_CARD },
    // Ekans
    Card { kind: Kind::Basic, hp: 60, element: D, weakness: F, retreat: 1, costs: 0b1000000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 1, 0], letters: 1, words: &[Word::Hit(20)] },
    ], ..NO_CARD },
    // Arbok
    Card { kind: Kind::Evolution, hp: 100, element: D, weakness: F, retreat: 2, from: 164, costs: 0b1000000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 1, 0], letters: 2, words: &[Word::Hit(60), Word::BarRetreat] },
    ], ..NO_CARD },
    // Nidoran♀
    Card { kind: Kind::Basic, hp: 60, element: D, weakness: F, retreat: 1, costs: 0b1000000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 1, 0], letters: 1, words: &[Word::Call(Filter { set: 4, hurt: false })] },
    ], ..NO_CARD },
    // Nidorina
    Card { kind: Kind::Evolution, hp: 80, element: D, weakness: F, retreat: 1, from: 166, costs: 0b1000000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 1, 0], letters: 1, words: &[Word::Hit(30)] },
    ], ..NO_CARD },
    // Nidoqueen
    Card { kind: Kind::Evolution, hp: 140, element: D, weakness: F, retreat: 2, from: 167, costs: 0b1000000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 2, 0], letters: 3, words: &[Word::More(50, Count::Bench(Filter { set: 5, hurt:
            false })), Word::Hit(80)] },
    ], ..NO_CARD },
    // Nidoran♂
    Card { kind: Kind::Basic, hp: 60, element: D, weakness: F, retreat: 1, costs: 0b1000000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 1, 0], letters: 1, words: &[Word::Hit(20)] },
    ], ..NO_CARD },
    // Nidorino
    Card { kind: Kind::Evolution, hp: 90, element: D, weakness: F, retreat: 2, from: 169, costs: 0b1000000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 1, 0], letters: 2, words: &[Word::Hit(40)] },
    ], ..NO_CARD },
    // Nidoking
    Card { kind: Kind::Evolution, hp: 150, element: D, weakness: F, retreat: 3, from: 170, costs: 0b1000000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 2, 0], letters: 3, words: &[Word::Hit(90), Word::Inflict(Condition::Poisoned)]
            },
    ], ..NO_CARD },
    // Zubat
    Card { kind: Kind::Basic, hp: 50, element: D, weakness: F, retreat: 1, costs: 0b0, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(10)] },
    ], ..NO_CARD },
    // Golbat
    Card { kind: Kind::Evolution, hp: 70, element: D, weakness: F, retreat: 1, from: 172, costs: 0b0, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(40)] },
    ], ..NO_CARD },
    // Grimer
    Card { kind: Kind::Basic, hp: 70, element: D, weakness: F, retreat: 3, costs: 0b1000000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 1, 0], letters: 1, words: &[Word::Hit(10), Word::Inflict(Condition::Poisoned)]
            },
    ], ..NO_CARD },
    // Muk
    Card { kind: Kind::Evolution, hp: 130, element: D, weakness: F, retreat: 3, from: 174, costs: 0b1000000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 2, 0], letters: 3, words: &[Word::More(50, Count::Poisoned), Word::Hit(70)] },
    ], ..NO_CARD },
    // Koffing
    Card { kind: Kind::Basic, hp: 70, element: D, weakness: F, retreat: 1, costs: 0b1000000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 1, 0], letters: 1, words: &[Word::Hit(20)] },
    ], ..NO_CARD },
    // Weezing
    Card { kind: Kind::Evolution, hp: 110, element: D, weakness: F, retreat: 3, from: 176, only_active: true, effect:
        &[Word::Inflict(Condition::Poisoned)], costs: 0b1000000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 1, 0], letters: 1, words: &[Word::Hit(30)] },
    ], ..NO_CARD },
    // Mawile
    Card { kind: Kind::Basic, hp: 70, element: M, weakness: R, retreat: 1, costs: 0b10000000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 1], letters: 1, words: &[Word::Hit(20), Word::Flip(1), Word::NeedHeads,
            Word::Strip] },
    ], ..NO_CARD },
    // Pawniard
    Card { kind: Kind::Basic, hp: 50, element: M, weakness: R, retreat: 1, costs: 0b10000000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 1], letters: 1, words: &[Word::Hit(30)] },
    ], ..NO_CARD },
    // Bisharp
    Card { kind: Kind::Evolution, hp: 90, element: M, weakness: R, retreat: 1, from: 179, costs: 0b10000000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 2], letters: 2, words: &[Word::Hit(70)] },
    ], ..NO_CARD },
    // Meltan
    Card { kind: Kind::Basic, hp: 60, element: M, weakness: R, retreat: 1, costs: 0b10000000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 1], letters: 1, words: &[Word::Charge(Target::Own, M, 1)] },
    ], ..NO_CARD },
    // Melmetal
    Card { kind: Kind::Evolution, hp: 130, element: M, weakness: R, retreat: 3, from: 181, armour: 20, costs:
        0b10000000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 3], letters: 4, words: &[Word::Hit(120)] },
    ], ..NO_CARD },
    // Dratini
    Card { kind: Kind::Basic, hp: 70, element: N, retreat: 1, costs: 0b1100, attacks: &[
        Attack { cost: [0, 0, 1, 1, 0, 0, 0, 0], letters: 2, words: &[Word::Hit(40)] },
    ], ..NO_CARD },
    // Dragonair
    Card { kind: Kind::Evolution, hp: 100, element: N, retreat: 1, from: 183, costs: 0b1100, attacks: &[
        Attack { cost: [0, 0, 1, 1, 0, 0, 0, 0], letters: 3, words: &[Word::Hit(80)] },
    ], ..NO_CARD },
    // Dragonite
    Card { kind: Kind::Evolution, hp: 160, element: N, retreat: 3, from: 184, costs: 0b1100, attacks: &[
        Attack { cost: [0, 0, 1, 1, 0, 0, 0, 0], letters: 4, words: &[Word::Scatter(4, 50)] },
    ], ..NO_CARD },
    // Pidgey
    Card { kind: Kind::Basic, hp: 60, element: C, weakness: L, retreat: 1, costs: 0b0, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(10)] },
    ], ..NO_CARD },
    // Pidgeotto
    Card { kind: Kind::Evolution, hp: 80, element: C, weakness: L, retreat: 1, from: 186, costs: 0b0, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(30)] },
    ], ..NO_CARD },
    // Pidgeot
    Card { kind: Kind::Evolution, hp: 130, element: C, weakness: L, retreat: 1, from: 187, effect: &[Word::Push], costs:
        0b0, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 0], letters: 2, words: &[Word::Hit(70)] },
    ], ..NO_CARD },
    // Rattata
    Card { kind: Kind::Basic, hp: 40, element: C, weakness: F, retreat: 1, costs: 0b0, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(20)] },
    ], ..NO_CARD },
    // Raticate
    Card { kind: Kind::Evolution, hp: 80, element: C, weakness: F, retreat: 1, from: 189, costs: 0b0, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(40)] },
    ], ..NO_CARD },
    // Spearow
    Card { kind: Kind::Basic, hp: 60, element: C, weakness: L, retreat: 1, costs: 0b0, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(20)] },
    ], ..NO_CARD },
    // Fearow
    Card { kind: Kind::Evolution, hp: 100, element: C, weakness: L, retreat: 1, from: 191, costs: 0b0, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 0], letters: 2, words: &[Word::Hit(50), Word::Flip(1), Word::NeedHeads,
            Word::Strip] },
    ], ..NO_CARD },
    // Jigglypuff
    Card { kind: Kind::Basic, hp: 60, element: C, weakness: F, retreat: 1, costs: 0b0, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 0], letters: 2, words: &[Word::Hit(30)] },
    ], ..NO_CARD },
    // Wigglytuff
    Card { kind: Kind::Evolution, hp: 100, element: C, weakness: F, retreat: 2, from: 193, costs: 0b0, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 0], letters: 2, words: &[Word::Hit(60)] },
    ], ..NO_CARD },
    // Wigglytuff ex
    Card { kind: Kind::Evolution, hp: 140, element: C, weakness: F, retreat: 2, points: 2, from: 193, costs: 0b0,
        attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 0], letters: 3, words: &[Word::Hit(80), Word::Inflict(Condition::Asleep)]
            },
    ], ..NO_CARD },
    // Meowth
    Card { kind: Kind::Basic, hp: 60, element: C, weakness: F, retreat: 1, costs: 0b0, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(10), Word::Draw(1)] },
    ], ..NO_CARD },
    // Persian
    Card { kind: Kind::Evolution, hp: 90, element: C, weakness: F, retreat: 1, from: 196, costs: 0b0, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 0], letters: 2, words: &[Word::Hit(40), Word::Flip(1), Word::NeedHeads,
            Word::Toss] },
    ], ..NO_CARD },
    // Farfetch'd
    Card { kind: Kind::Basic, hp: 60, element: C, weakness: L, retreat: 1, costs: 0b0, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(40)] },
    ], ..NO_CARD },
    // Doduo
    Card { kind: Kind::Basic, hp: 60, element: C, weakness: L, retreat: 1, costs: 0b0, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(20)] },
    ], ..NO_CARD },
    // Dodrio
    Card { kind: Kind::Evolution, hp: 80, element: C, weakness: L, retreat: 0, from: 199, costs: 0b0, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(40)] },
    ], ..NO_CARD },
    // Lickitung
    Card { kind: Kind::Basic, hp: 90, element: C, weakness: F, retreat: 3, costs: 0b0, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 0], letters: 3, words: &[Word::FlipRun, Word::More(60, Count::Heads),
            Word::Hit(0)] },
    ], ..NO_CARD },
    // Chansey
    Card { kind: Kind::Basic, hp: 120, element: C, weakness: F, retreat: 3, costs: 0b0, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 0], letters: 3, words: &[Word::Hit(60)] },
    ], ..NO_CARD },
    // Kangaskhan
    Card { kind: Kind::Basic, hp: 100, element: C, weakness: F, retreat: 3, costs: 0b0, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Flip(2), Word::More(30, Count::Heads),
            Word::Hit(0)] },
    ], ..NO_CARD },
    // Tauros
    Card { kind: Kind::Basic, hp: 100, element: C, weakness: F, retreat: 2, costs: 0b0, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 0], letters: 2, words: &[Word::Hit(50)] },
    ], ..NO_CARD },
    // Ditto
    Card { kind: Kind::Basic, hp: 70, element: C, weakness: F, retreat: 1, costs: 0b0, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Copy] },
    ], ..NO_CARD },
    // Eevee
    Card { kind: Kind::Basic, hp: 60, element: C, weakness: F, retreat: 1, costs: 0b0, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(20)] },
    ], ..NO_CARD },
    // Mew
    Card { kind: Kind::Basic, hp: 60, element: P, weakness: D, retreat: 1, costs: 0b10000, attacks: &[
        Attack { cost: [0, 0, 0, 0, 1, 0, 0, 0], letters: 1, words: &[Word::Hit(20), Word::Show] },
    ], ..NO_CARD },
    NO_CARD,
    // Porygon
    Card { kind: Kind::Basic, hp: 50, element: C, weakness: F, retreat: 1, effect: &[Word::Look(1)], costs: 0b0,
        attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(20)] },
    ], ..NO_CARD },
    // Aerodactyl
    Card { kind: Kind::Evolution, hp: 100, element: C, weakness: L, retreat: 1, from: 218, costs: 0b0, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 0], letters: 2, words: &[Word::Flip(1), Word::NeedHeads, Word::Return] },
    ], ..NO_CARD },
    // Snorlax
    Card { kind: Kind::Basic, hp: 150, element: C, weakness: F, retreat: 4, costs: 0b0, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 0], letters: 4, words: &[Word::Hit(70)] },
    ], ..NO_CARD },
    // Minccino
    Card { kind: Kind::Basic, hp: 60, element: C, weakness: F, retreat: 1, costs: 0b0, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 0], letters: 1, words: &[Word::Hit(20)] },
    ], ..NO_CARD },
    // Cinccino
    Card { kind: Kind::Evolution, hp: 90, element: C, weakness: F, retreat: 1, from: 212, costs: 0b0, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 0], letters: 3, words: &[Word::More(30, Count::Bench(ANYBODY)),
            Word::Hit(0)] },
    ], ..NO_CARD },
    // Wooloo
    Card { kind: Kind::Basic, hp: 70, element: C, weakness: F, retreat: 1, costs: 0b0, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 0], letters: 2, words: &[Word::Hit(30)] },
    ], ..NO_CARD },
    // Dubwool
    Card { kind: Kind::Evolution, hp: 120, element: C, weakness: F, retreat: 2, from: 214, costs: 0b0, attacks: &[
        Attack { cost: [0, 0, 0, 0, 0, 0, 0, 0], letters: 3, words: &[Word::Hit(80)] },
    ], ..NO_CARD },
    // Helix Fossil
    Card { kind: Kind::Fossil, hp: 40, ..NO_CARD },
    // Dome Fossil
    Card { kind: Kind::Fossil, hp: 40, ..NO_CARD },
    // Old Amber
    Card { kind: Kind::Fossil, hp: 40, ..NO_CARD },
    // Erika
    Card { kind: Kind::Supporter, effect: &[Word::Choose(Whose::Own, Where::Any, Filter { set: 1, hurt: true }),
        Word::HealChosen(50)], ..NO_CARD },
    // Misty
    Card { kind: Kind::Supporter, effect: &[Word::Choose(Whose::Own, Where::Any, Filter { set: 6, hurt: false }),
        Word::FlipRun, Word::ChargeHeads(Target::Chosen, W)], ..NO_CARD },
    // Blaine
    Card { kind: Kind::Supporter, effect: &[Word::Boost(30, Filter { set: 7, hurt: false })], ..NO_CARD },
    // Koga
    Card { kind: Kind::Supporter, effect: &[Word::Lift(Filter { set: 8, hurt: false })], ..NO_CARD },
    // Giovanni
    Card { kind: Kind::Supporter, effect: &[Word::Boost(10, ANYBODY)], ..NO_CARD },
    // Brock
    Card { kind: Kind::Supporter, effect: &[Word::Choose(Whose::Own, Where::Any, Filter { set: 9, hurt: false }),
        Word::Charge(Target::Chosen, F, 1)], ..NO_CARD },
    // Sabrina
    Card { kind: Kind::Supporter, effect: &[Word::Push], ..NO_CARD },
    // Lt. Surge
    Card { kind: Kind::Supporter, effect: &[Word::Gather(L, Filter { set: 10, hurt: false })], ..NO_CARD },
    // Potion
    Card { kind: Kind::Item, effect: &[Word::Choose(Whose::Own, Where::Any, Filter { set: 0, hurt: true }),
        Word::HealChosen(20)], ..NO_CARD },
    // X Speed
    Card { kind: Kind::Item, effect: &[Word::Ease(1)], ..NO_CARD },
    // Hand Scope
    Card { kind: Kind::Item, effect: &[Word::Show], ..NO_CARD },
    // Pokédex
    Card { kind: Kind::Item, effect: &[Word::Look(3)], ..NO_CARD },
    // Poké Ball
    Card { kind: Kind::Item, effect: &[Word::Find(Filter { set: 2, hurt: false })], ..NO_CARD },
    // Red Card
    Card { kind: Kind::Item, effect: &[Word::Redraw(3)], ..NO_CARD },
    // Professor's Research
    Card { kind: Kind::Supporter, effect: &[Word::Draw(2)], ..NO_CARD },
];

/// The cards that filters name: a bit for each number.
#[rustfmt::skip]
pub static SETS: [[u64; 4]; 11] = [
    [0xfffffffffffffffe, 0xffffffffffffffff, 0xffffffffffffffff, 0x7feffff],
    [0x1fffffffe, 0x0, 0x0, 0x0],
    [0x4a2bd4a2af254922, 0xd14b4bab5cb8a555, 0xa4ad52551cc8aaa7, 0x75afed2],
    [0x0, 0x1ffffc0000000, 0x0, 0x0],
    [0x0, 0x0, 0x20000000000, 0x0],
    [0x0, 0x0, 0x80000000000, 0x0],
    [0xffe0000000000000, 0x3fffffff, 0x0, 0x0],
    [0x184000000000, 0x0, 0x0, 0x0],
    [0x0, 0x0, 0x2800000000000, 0x0],
    [0x0, 0x0, 0x600000, 0x0],
    [0x0, 0x3080000000, 0x0, 0x0],
];

/// All cards in their order (13).
#[rustfmt::skip]
pub static IN_ORDER: [u8; 232] = [
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
    32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60,
    61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89,
    90, 91, 92, 93, 94, 95, 96, 97, 98, 99, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114,
    115, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126, 127, 128, 129, 130, 131, 132, 133, 134, 135, 136, 137,
    138, 139, 140, 141, 142, 143, 144, 145, 146, 147, 148, 149, 150, 151, 152, 153, 154, 155, 156, 157, 158, 159, 160,
    161, 162, 163, 164, 165, 166, 167, 168, 169, 170, 171, 172, 173, 174, 175, 176, 177, 178, 179, 180, 181, 182, 183,
    184, 185, 186, 187, 188, 189, 190, 191, 192, 193, 194, 195, 196, 197, 198, 199, 200, 201, 202, 203, 204, 205, 206,
    207, 209, 210, 211, 212, 213, 214, 215, 216, 217, 218, 219, 220, 221, 222, 223, 224, 225, 226, 227, 228, 229, 230,
    231, 232, 233,
];

/// The basic Pokémon in that order (12).
#[rustfmt::skip]
pub static BASICS: [u8; 106] = [
    1, 5, 8, 11, 14, 16, 18, 21, 24, 25, 26, 27, 29, 31, 33, 37, 39, 42, 44, 46, 47, 48, 49, 51, 53, 57, 59, 62, 64, 66,
    68, 70, 72, 74, 77, 79, 83, 84, 85, 87, 90, 91, 92, 94, 96, 97, 99, 101, 103, 104, 105, 107, 110, 112, 113, 115,
    118, 120, 124, 126, 127, 128, 129, 130, 133, 135, 137, 139, 141, 143, 147, 150, 151, 154, 155, 156, 160, 162, 164,
    166, 169, 172, 174, 176, 178, 179, 181, 183, 186, 189, 191, 193, 196, 198, 199, 201, 202, 203, 204, 205, 206, 207,
    209, 211, 212, 214,
];

/// What fills a free deck (15).
#[rustfmt::skip]
pub static FILL: [u8; 9] = [
    233, 231, 227, 228, 232, 229, 230, 223, 225,
];

/// Decks that have a name (11).
#[rustfmt::skip]
pub static ARCHETYPES: [Archetype; 16] = [
    // Mewtwo ex and Gardevoir
    Archetype { cards: [129, 129, 130, 130, 131, 131, 132, 132, 223, 223, 225, 227, 227, 228, 228, 231, 231, 232, 233,
        233], types: [P, 0, 0] },
    // Pikachu ex and Zapdos ex
    Archetype { cards: [96, 96, 99, 99, 100, 100, 104, 104, 223, 223, 225, 225, 227, 227, 228, 228, 231, 231, 233, 233],
        types: [L, 0, 0] },
    // Charizard ex and Moltres ex
    Archetype { cards: [33, 33, 34, 34, 36, 36, 47, 47, 223, 223, 225, 225, 227, 227, 228, 228, 231, 231, 233, 233],
        types: [R, 0, 0] },
    // Starmie ex and Articuno ex
    Archetype { cards: [74, 74, 76, 76, 84, 84, 220, 220, 223, 223, 225, 225, 227, 227, 228, 228, 231, 231, 233, 233],
        types: [W, 0, 0] },
    // Blastoise ex and Lapras
    Archetype { cards: [53, 53, 54, 54, 56, 56, 79, 79, 220, 220, 225, 225, 227, 227, 228, 228, 231, 231, 233, 233],
        types: [W, 0, 0] },
    // Venusaur ex and Lilligant
    Archetype { cards: [1, 1, 2, 2, 4, 4, 29, 29, 30, 30, 219, 219, 225, 225, 227, 227, 231, 231, 233, 233], types: [G,
        0, 0] },
    // Exeggutor ex and Butterfree
    Archetype { cards: [5, 5, 6, 6, 7, 7, 21, 21, 23, 23, 219, 219, 223, 223, 225, 225, 231, 231, 233, 233], types: [G,
        0, 0] },
    // Weezing, Muk and Koga
    Archetype { cards: [164, 164, 165, 165, 174, 174, 175, 175, 176, 176, 177, 177, 222, 222, 225, 225, 231, 231, 233,
        233], types: [D, 0, 0] },
    // Marowak ex and Dugtrio
    Archetype { cards: [139, 139, 140, 140, 151, 151, 153, 153, 154, 154, 223, 223, 225, 225, 227, 227, 231, 231, 233,
        233], types: [F, 0, 0] },
    // Machamp ex and Primeape
    Archetype { cards: [141, 141, 142, 142, 143, 143, 144, 144, 146, 146, 223, 223, 227, 227, 228, 228, 231, 231, 233,
        233], types: [F, 0, 0] },
    // Gengar ex and Hypno
    Archetype { cards: [120, 120, 121, 121, 123, 123, 124, 124, 125, 125, 207, 225, 225, 227, 228, 228, 231, 231, 233,
        233], types: [P, 0, 0] },
    // Greninja and Dragonite
    Archetype { cards: [87, 87, 88, 88, 89, 89, 183, 183, 184, 184, 185, 185, 225, 225, 228, 228, 231, 231, 233, 233],
        types: [W, L, 0] },
    // Ninetales, Rapidash and Blaine
    Archetype { cards: [37, 37, 38, 38, 42, 42, 43, 43, 44, 44, 221, 221, 225, 225, 227, 227, 231, 231, 233, 233],
        types: [R, 0, 0] },
    // Melmetal and Mawile
    Archetype { cards: [178, 178, 179, 179, 180, 180, 181, 181, 182, 182, 223, 223, 227, 227, 228, 228, 231, 231, 233,
        233], types: [M, 0, 0] },
    // Golem, Kabutops and Brock
    Archetype { cards: [147, 147, 148, 148, 149, 149, 150, 150, 158, 158, 159, 159, 217, 217, 224, 224, 231, 231, 233,
        233], types: [F, 0, 0] },
    // Pidgeot, Wigglytuff ex and Raichu
    Archetype { cards: [94, 94, 95, 95, 186, 186, 187, 187, 188, 188, 193, 195, 226, 226, 231, 231, 232, 232, 233, 233],
        types: [L, 0, 0] },
];
