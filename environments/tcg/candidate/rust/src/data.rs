//! What the tables consist of, and the numbers by which things are called. Numbers in brackets are statements of the rules.

/// Types of energy (6), then the types of Pokémon of which there is no energy.
pub const G: u8 = 1;
pub const R: u8 = 2;
pub const W: u8 = 3;
pub const L: u8 = 4;
pub const P: u8 = 5;
pub const F: u8 = 6;
pub const D: u8 = 7;
pub const M: u8 = 8;
pub const N: u8 = 9;
pub const C: u8 = 10;

/// How many types of energy there are.
pub const TYPES: usize = 8;
pub const DECK: usize = 20;
/// A shield that prevents everything (73).
pub const ALL: u8 = 255;

/// What a card is (2, 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// There is no card of this number.
    None,
    Basic,
    Evolution,
    Fossil,
    Supporter,
    Item,
}

/// A card. A name is that of one card alone, so that its number stands for its name.
#[derive(Debug)]
pub struct Card {
    pub kind: Kind,
    pub hp: u8,
    /// Its type.
    pub element: u8,
    /// 0 where it has none.
    pub weakness: u8,
    pub retreat: u8,
    /// What its knockout is worth (53).
    pub points: u8,
    /// The card from which it evolves; 0 is none.
    pub from: u8,
    /// Abilities that work by themselves (90).
    pub armour: u8,
    pub counter: u8,
    pub silence: bool,
    /// Its ability can be used on the active spot alone (39).
    pub only_active: bool,
    /// A bit for each type of energy in the costs of its attacks.
    pub costs: u8,
    pub attacks: &'static [Attack],
    /// What its ability does that a player uses, or what a trainer does.
    pub effect: &'static [Word],
}

pub const NO_CARD: Card = Card {
    kind: Kind::None,
    hp: 0,
    element: C,
    weakness: 0,
    retreat: 0,
    points: 1,
    from: 0,
    armour: 0,
    counter: 0,
    silence: false,
    only_active: false,
    costs: 0,
    attacks: &[],
    effect: &[],
};

/// A cost and an effect (7).
#[derive(Debug)]
pub struct Attack {
    /// Of each type, without `C`.
    pub cost: [u8; TYPES],
    /// With `C`.
    pub letters: u8,
    pub words: &'static [Word],
}

pub const NO_ATTACK: Attack = Attack { cost: [0; TYPES], letters: 0, words: &[] };

impl Attack {
    /// Whether energy suffices (47).
    pub fn is_affordable(&self, energy: &[u8; TYPES]) -> bool {
        let enough = self.cost.iter().zip(energy).all(|(cost, energy)| energy >= cost);
        enough && energy.iter().map(|count| u32::from(*count)).sum::<u32>() >= u32::from(self.letters)
    }

    /// Whether it is an attack that copies others (89).
    pub fn copies(&self) -> bool {
        self.words.contains(&Word::Copy)
    }
}

/// A deck of the archetypes, its cards sorted.
#[derive(Debug)]
pub struct Archetype {
    pub cards: [u8; DECK],
    pub types: [u8; 3],
}

/// Those whom a filter names (77): a set of cards, and perhaps only those with damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filter {
    /// A place among `SETS`.
    pub set: u8,
    pub hurt: bool,
}

/// No filter: the first set has all that can be in play.
pub const ANYBODY: Filter = Filter { set: 0, hurt: false };

/// Whose Pokémon are meant, seen from whose effect it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    Own,
    Foe,
}

/// Which places are meant.
#[allow(dead_code, reason = "the rules have all of them, the cards of this set do not")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Where {
    Any,
    Bench,
    Active,
}

/// Who gets energy (78).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    Own,
    Chosen,
    Active,
}

/// What `inflict` gives (72).
#[allow(dead_code, reason = "the rules have all of them, the cards of this set do not")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    Asleep,
    Paralysed,
    Confused,
    Poisoned,
    Burned,
}

/// What `more` counts (67).
#[allow(dead_code, reason = "the rules have all of them, the cards of this set do not")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    Heads,
    All,
    Bench(Filter),
    FoeEnergy,
    Extra(u8, u8),
    HurtSelf,
    HurtFoe,
    Poisoned,
}

/// A word of an effect with its arguments (66 to 90). Types of energy are numbers from 1.
#[allow(dead_code, reason = "the rules have all of them, the cards of this set do not")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    Flip(u8),
    FlipRun,
    NeedHeads,
    NeedTails,
    NeedAll,
    More(u8, Count),
    Hit(u8),
    StrikeChosen(u8),
    StrikeBench(u8),
    Hurt(u8),
    Scatter(u8, u8),
    HealSelf(u8),
    HealDealt,
    HealChosen(u8),
    HealOwn(u8),
    Inflict(Condition),
    Shield(u8),
    BarAttack,
    BarRetreat,
    Weaken(u8),
    Gag,
    Choose(Whose, Where, Filter),
    Charge(Target, u8, u8),
    ChargeHeads(Target, u8),
    Spread(u8),
    Discard(u8, u8),
    DiscardAll,
    Strip,
    /// `swap` and `drag`: who was chosen says whose Pokémon change places.
    Swap,
    Push,
    Draw(u8),
    Find(Filter),
    Call(Filter),
    Toss,
    Return,
    Show,
    Look(u8),
    Lift(Filter),
    Gather(u8, Filter),
    Redraw(u8),
    Boost(u8, Filter),
    Ease(u8),
    Copy,
    /// Words that no card has: the energy that a retreat costs (41), the place of an evolution (34), and who comes to an
    /// empty active spot (55).
    Pay,
    Evolve,
    Promote,
}
