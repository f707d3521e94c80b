//! What the tables consist of, and the numbers by which things are called.

/// Stats and stages in their order; accuracy and evasion have stages alone.
pub const ATTACK: usize = 0;
pub const DEFENCE: usize = 1;
pub const SPEED: usize = 2;
pub const SPECIAL: usize = 3;
pub const ACCURACY: usize = 4;
pub const EVASION: usize = 5;

/// Statuses; 0 is none.
pub const ASLEEP: u8 = 1;
pub const POISONED: u8 = 2;
pub const BURNED: u8 = 3;
pub const FROZEN: u8 = 4;
pub const PARALYSED: u8 = 5;
/// Poisoned badly, by Toxic.
pub const TOXIC: u8 = 6;

pub const NORMAL: u8 = 1;
pub const FIGHTING: u8 = 2;
pub const POISON: u8 = 4;
pub const GHOST: u8 = 8;
pub const GRASS: u8 = 11;

pub const DISABLE: u8 = 50;
pub const COUNTER: u8 = 68;
pub const BIDE: u8 = 117;
pub const METRONOME: u8 = 118;
pub const MIRROR_MOVE: u8 = 119;
pub const TRANSFORM: u8 = 144;
pub const STRUGGLE: u8 = 165;
/// What is selected by who cannot move.
pub const CANNOT_MOVE: u8 = 166;

/// How often moves with a chance to do so hit, and how many turns a trap lasts.
pub const TWO_TO_FIVE: [u8; 8] = [2, 2, 2, 3, 3, 3, 4, 5];

/// A species.
#[derive(Debug)]
pub struct Species {
    pub types: [u8; 2],
    /// HP, attack, defence, speed and special.
    pub base: [u8; 5],
    /// A bit for each move, by its number less one.
    pub learnset: [u64; 3],
}

/// Which stats a move's damage is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Category {
    Physical,
    Special,
    Status,
}

/// What a move does beside damage, changes of stages and status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    None,
    Bide,
    Charge,
    Confuse,
    Conversion,
    Counter,
    /// Hurts who misses with it.
    Crash,
    Disable,
    DreamEater,
    Explode,
    FocusEnergy,
    Forty,
    Half,
    Haze,
    Heal,
    LeechSeed,
    Level,
    LightScreen,
    Metronome,
    Mimic,
    MirrorMove,
    Mist,
    OneHit,
    Psywave,
    Rage,
    Recharge,
    Reflect,
    Rest,
    Substitute,
    Swift,
    Thrash,
    Transform,
    Trap,
    Twenty,
    /// Charges where nothing can reach.
    Vanish,
}

/// What a move may do beside its damage.
#[derive(Clone, Copy, Debug)]
pub struct Secondary {
    /// Of 256; 0 where there is no such effect.
    pub chance: u16,
    pub status: u8,
    pub flinch: bool,
    pub confusion: bool,
    pub boost: (u8, i8),
}

/// A move.
#[derive(Clone, Copy, Debug)]
pub struct Move {
    /// Its type; 0 is none.
    pub kind: u8,
    pub power: u8,
    /// Percent; 0 always hits.
    pub accuracy: u8,
    pub pp: u8,
    pub max_pp: u8,
    pub priority: i8,
    pub category: Category,
    /// Often hits critically.
    pub sharp: bool,
    /// Is used on its user.
    pub own: bool,
    pub ignores_immunity: bool,
    /// 0 once, 2 twice, 5 two to five times.
    pub hits: u8,
    /// What damage is divided by; 0 for no recoil.
    pub recoil: u8,
    /// What damage is divided by; 0 for no drain.
    pub drain: u8,
    pub status: u8,
    pub boost: (u8, i8),
    pub effect: Effect,
    /// Leaves the damage which was last done in the battle.
    pub keeps_damage: bool,
    pub secondary: Secondary,
}

pub const NO_SECONDARY: Secondary = Secondary { chance: 0, status: 0, flinch: false, confusion: false, boost: (0, 0) };

pub const NO_MOVE: Move = Move {
    kind: 0,
    power: 0,
    accuracy: 0,
    pp: 0,
    max_pp: 0,
    priority: 0,
    category: Category::Physical,
    sharp: false,
    own: false,
    ignores_immunity: false,
    hits: 0,
    recoil: 0,
    drain: 0,
    status: 0,
    boost: (0, 0),
    effect: Effect::None,
    keeps_damage: false,
    secondary: NO_SECONDARY,
};

impl Move {
    /// Whether it takes two turns.
    pub fn charges(&self) -> bool {
        matches!(self.effect, Effect::Charge | Effect::Vanish)
    }
}
