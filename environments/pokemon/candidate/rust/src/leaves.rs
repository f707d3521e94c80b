//! The canonical state, leaf by leaf.

use lockstep_env::{Refused, leaves};

use crate::state::{Active, Battle, Member, Side};

leaves! {
    /// All that decides how a battle goes on: of both sides, and of their teams by place.
    pub struct State {
        pub turn: u16,
        pub last_damage: i32,
        pub request: [u8; 2],
        pub active: [u8; 2],
        pub selected: [u8; 2],
        pub slot: [u8; 2],
        pub side_last: [u8; 2],
        pub species: [[u8; 6]; 2],
        pub level: [[u8; 6]; 2],
        pub max_hp: [[u16; 6]; 2],
        pub hp: [[u16; 6]; 2],
        pub status: [[u8; 6]; 2],
        pub sleep: [[u8; 6]; 2],
        pub slept_by_foe: [[bool; 6]; 2],
        pub sub_fainted: [[bool; 6]; 2],
        pub seen: [[bool; 6]; 2],
        pub stats: [[[u16; 4]; 6]; 2],
        pub moves: [[[u8; 4]; 6]; 2],
        pub pp: [[[u8; 4]; 6]; 2],
        pub types: [[u8; 2]; 2],
        pub transformed: [bool; 2],
        pub stored: [[u16; 4]; 2],
        pub modified: [[u16; 4]; 2],
        pub boosts: [[i8; 6]; 2],
        pub act_moves: [[u8; 4]; 2],
        pub act_pp: [[u8; 4]; 2],
        pub last_move: [u8; 2],
        pub confusion: [u8; 2],
        pub flinch: [bool; 2],
        pub trapped: [u8; 2],
        pub trapped_maybe: [bool; 2],
        pub fake_trapped: [u8; 2],
        pub trap_turns: [u8; 2],
        pub trap_total: [u8; 2],
        pub trap_damage: [i32; 2],
        pub trap_move: [u8; 2],
        pub trap_target: [u8; 2],
        pub recharge: [bool; 2],
        pub thrash_move: [u8; 2],
        pub thrash_turns: [i8; 2],
        pub thrash_accuracy: [u8; 2],
        pub two_turn: [u8; 2],
        pub invulnerable: [bool; 2],
        pub bide_turns: [u8; 2],
        pub bide_damage: [i32; 2],
        pub disable_turns: [u8; 2],
        pub disable_slot: [u8; 2],
        pub disable_move: [u8; 2],
        pub substitute: [u16; 2],
        pub leech_seed: [bool; 2],
        pub focus_energy: [bool; 2],
        pub mist: [bool; 2],
        pub reflect: [bool; 2],
        pub light_screen: [bool; 2],
        pub rage: [u8; 2],
        pub toxic: [i16; 2],
    }
}

/// Both directions of what leaf stands for what field: of a side, of who is in battle, and of each member.
macro_rules! fields {
    (
        side { $($of_side:ident = $side_field:ident,)* }
        active { $($of_active:ident = $active_field:ident,)* }
        member { $($of_member:ident = $member_field:ident,)* }
    ) => {
        /// The leaves of a battle.
        pub fn encode(battle: &Battle) -> State {
            let sides = battle.sides.each_ref();
            State {
                turn: battle.turn,
                last_damage: battle.last_damage,
                $($of_side: sides.map(|side| side.$side_field),)*
                $($of_active: sides.map(|side| side.active.$active_field),)*
                $($of_member: sides.map(|side| side.team.each_ref().map(|member| member.$member_field)),)*
            }
        }

        fn decode_side(state: &State, side: usize) -> Side {
            Side {
                $($side_field: state.$of_side[side],)*
                active: Active { $($active_field: state.$of_active[side],)* },
                team: std::array::from_fn(|place| Member { $($member_field: state.$of_member[side][place],)* }),
            }
        }
    };
}

fields! {
    side {
        request = request,
        active = place,
        selected = selected,
        slot = slot,
        side_last = last_move,
    }
    active {
        trap_damage = trap_damage,
        bide_damage = bide_damage,
        stored = stored,
        modified = modified,
        substitute = substitute,
        toxic = toxic,
        boosts = boosts,
        types = types,
        act_moves = moves,
        act_pp = pp,
        last_move = last_move,
        confusion = confusion,
        trapped = trapped,
        fake_trapped = fake_trapped,
        trap_turns = trap_turns,
        trap_total = trap_total,
        trap_move = trap_move,
        trap_target = trap_target,
        thrash_move = thrash_move,
        thrash_turns = thrash_turns,
        thrash_accuracy = thrash_accuracy,
        two_turn = two_turn,
        bide_turns = bide_turns,
        disable_turns = disable_turns,
        disable_slot = disable_slot,
        disable_move = disable_move,
        rage = rage,
        transformed = transformed,
        flinch = flinch,
        trapped_maybe = trapped_maybe,
        recharge = recharge,
        invulnerable = invulnerable,
        leech_seed = leech_seed,
        focus_energy = focus_energy,
        mist = mist,
        reflect = reflect,
        light_screen = light_screen,
    }
    member {
        max_hp = max_hp,
        hp = hp,
        stats = stats,
        species = species,
        level = level,
        status = status,
        sleep = sleep,
        slept_by_foe = slept_by_foe,
        sub_fainted = sub_fainted,
        seen = seen,
        moves = moves,
        pp = pp,
    }
}

/// The battle of some leaves.
pub fn decode(state: &State) -> Result<Battle, Refused> {
    check(state)?;
    Ok(Battle {
        sides: std::array::from_fn(|side| decode_side(state, side)),
        last_damage: state.last_damage,
        turn: state.turn,
    })
}

fn check(state: &State) -> Result<(), Refused> {
    let refuse = |what: &str| Err(Refused(format!("no battle has such {what}")));
    if state.active.iter().chain(&state.trap_target).any(|place| *place > 5) {
        return refuse("a place");
    }
    if state.species.iter().flatten().any(|number| !(1..=151).contains(number)) {
        return refuse("a species");
    }
    let known = state.moves.iter().flatten().flatten().chain(state.act_moves.iter().flatten());
    if known.chain(state.selected.iter()).any(|number| *number > 166) {
        return refuse("a move");
    }
    if state.request.iter().any(|request| *request > 2) || state.types.iter().flatten().any(|kind| *kind > 15) {
        return refuse("a request or a type");
    }
    Ok(())
}
