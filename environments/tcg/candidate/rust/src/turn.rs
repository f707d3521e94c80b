//! The course of a game: placing, turns, knockouts, checkups and the end.

use lockstep_env::Draws;

use crate::actions::{ATTACK, CHARGE, END_OR_DONE, HAND, LEAVE, OWN, SCRAP, USE};
use crate::cards::card;
use crate::chance;
use crate::data::Kind;
use crate::effect::{ABILITY, ATTACK_1, EVOLVE, PROMOTE, RETREAT, TRAINER};
use crate::state::{
    ACTIVE, ASKED, ASLEEP, AWAKE, CHECKED, CONFUSED, Game, IN_TURN, MAIN, OVER, PARALYSED, PLACE_ACTIVE, PLACE_BENCH,
    PLACES, Pokemon, Run, TURN_ENDED,
};

const LAST_TURN: u8 = 30;
/// So many points are a reason to win (54).
const POINTS: u8 = 3;

/// A game while a step goes on.
#[derive(Debug)]
pub struct Play<'a, D> {
    pub game: &'a mut Game,
    pub draws: &'a mut D,
    /// Who won in this step.
    pub winner: Option<usize>,
}

/// Do an action that is legal; who won by it.
pub fn act<D: Draws>(game: &mut Game, action: usize, draws: &mut D) -> Option<usize> {
    let mut play = Play { game, draws, winner: None };
    match play.game.phase {
        ASKED => play.answer(action),
        MAIN => play.in_turn(action),
        _ => play.place(action),
    }
    play.winner
}

impl<D: Draws> Play<'_, D> {
    /// Put a basic Pokémon on the active spot or the bench before the first turn, or end that (22, 24).
    fn place(&mut self, action: usize) {
        let player = usize::from(self.game.asked & 1);
        let other_has_placed = self.game.sides[1 - player].active().is_there();
        if action != END_OR_DONE {
            let side = &mut self.game.sides[player];
            let number = side.hand.pile.cards[action - HAND];
            side.hand.give(number);
            let place = if self.game.phase == PLACE_ACTIVE { Some(ACTIVE) } else { side.room() };
            side.places[place.unwrap_or(ACTIVE)].card = number;
            self.game.phase = PLACE_BENCH;
        } else if other_has_placed {
            self.begin_turn(1 - player);
        } else {
            self.game.asked = (1 - player) as u8;
            self.game.phase = PLACE_ACTIVE;
        }
    }

    fn in_turn(&mut self, action: usize) {
        let player = self.game.in_turn();
        let side = &mut self.game.sides[player];
        match action {
            END_OR_DONE => self.end_turn(),
            HAND..OWN => {
                let number = side.hand.pile.cards[action - HAND];
                self.play(number);
            }
            ATTACK..USE => self.attack(action - ATTACK),
            USE..LEAVE => {
                let place = action - USE;
                side.places[place].used = 1;
                let number = side.places[place].card;
                self.run(number, ABILITY, place);
            }
            LEAVE => {
                let number = side.active().card;
                self.game.retreated = 1;
                self.run(number, RETREAT, ACTIVE);
            }
            CHARGE..SCRAP => {
                let kind = std::mem::take(&mut side.zone[0]);
                *side.places[action - CHARGE].energy_mut(kind) += 1;
            }
            _ => {
                side.throw(action - SCRAP);
                self.settle();
            }
        }
    }

    /// Play a card of the hand (33 to 37).
    fn play(&mut self, number: u8) {
        let player = self.game.in_turn();
        let side = &mut self.game.sides[player];
        side.hand.give(number);
        match card(number).kind {
            Kind::Basic | Kind::Fossil => {
                if let Some(room) = side.room() {
                    side.put(room, number);
                }
            }
            Kind::Evolution => self.run(number, EVOLVE, ACTIVE),
            kind => {
                side.discard.sort_in(number);
                if kind == Kind::Supporter {
                    self.game.supporter = number;
                }
                self.run(number, TRAINER, ACTIVE);
            }
        }
    }

    fn attack(&mut self, at: usize) {
        let side = &self.game.sides[self.game.in_turn()];
        let number = side.active().card;
        if side.on_active.mind == CONFUSED && !chance::coin(self.draws) {
            self.end_turn();
        } else {
            self.run(number, ATTACK_1 + at as u8, ACTIVE);
        }
    }

    // --- turns ---

    fn begin_turn(&mut self, player: usize) {
        let game = &mut *self.game;
        game.turn += 1;
        (game.player, game.asked) = (player as u8, player as u8);
        (game.phase, game.stage) = (MAIN, IN_TURN);
        let side = &mut game.sides[player];
        if game.turn > 1 {
            side.zone = [side.zone[1], energy(side.types, self.draws)];
        }
        side.draw();
    }

    /// What ends with a turn; then knockouts, the checkup, and the next turn.
    pub fn end_turn(&mut self) {
        let game = &mut *self.game;
        let player = game.in_turn();
        game.stage = TURN_ENDED;
        (game.supporter, game.retreated, game.eased) = (0, 0, 0);
        let side = &mut game.sides[player];
        side.zone[0] = 0;
        side.gagged = 0;
        (side.on_active.no_attack, side.on_active.no_retreat, side.on_active.weakened) = (0, 0, 0);
        for pokemon in &mut side.places {
            (pokemon.fresh, pokemon.used) = (0, 0);
        }
        game.sides[1 - player].on_active.shield = 0;
        self.settle();
    }

    /// Knockouts, the end, empty active spots, and then what comes next (53 to 57).
    pub fn settle(&mut self) {
        loop {
            self.knock_out();
            let was_last = self.game.stage == CHECKED && self.game.turn == LAST_TURN;
            if self.somebody_has_a_reason() || was_last {
                self.game.phase = OVER;
                return;
            }
            let player = self.game.in_turn();
            for who in [1 - player, player] {
                if !self.game.sides[who].active().is_there() {
                    self.game.run = Run { part: PROMOTE, ..Run::default() };
                    self.game.asked = who as u8;
                    self.game.phase = ASKED;
                    return;
                }
            }
            match self.game.stage {
                IN_TURN => return,
                TURN_ENDED => {
                    self.check_up();
                    self.game.stage = CHECKED;
                }
                _ => return self.begin_turn(1 - player),
            }
        }
    }

    /// What conditions do between two turns (62, 63).
    fn check_up(&mut self) {
        let player = self.game.in_turn();
        for who in [player, 1 - player] {
            let side = &mut self.game.sides[who];
            if side.on_active.poisoned > 0 {
                side.active_mut().suffer(10);
            }
            if side.on_active.burned > 0 {
                side.active_mut().suffer(20);
                side.on_active.burned = u8::from(!chance::coin(self.draws));
            }
            if side.on_active.mind == ASLEEP && chance::coin(self.draws) {
                side.on_active.mind = AWAKE;
            }
        }
        let mind = &mut self.game.sides[player].on_active.mind;
        if *mind == PARALYSED {
            *mind = AWAKE;
        }
    }

    /// Who has damage for all hit points goes, and is worth points (53).
    fn knock_out(&mut self) {
        for player in 0..2 {
            for place in 0..PLACES {
                let Pokemon { card: number, damage, .. } = self.game.sides[player].places[place];
                let card = card(number);
                if number != 0 && damage >= card.hp {
                    self.game.sides[player].throw(place);
                    self.game.sides[1 - player].points += card.points;
                }
            }
        }
    }

    /// Whether somebody has a reason to win. Who has more wins (54).
    fn somebody_has_a_reason(&mut self) -> bool {
        let reasons = [0, 1].map(|player| {
            let enough = self.game.sides[player].points >= POINTS;
            u8::from(enough) + u8::from(self.game.sides[1 - player].in_play() == 0)
        });
        if reasons[0] != reasons[1] {
            self.winner = Some(usize::from(reasons[1] > reasons[0]));
        }
        reasons != [0, 0]
    }
}

/// The next energy, of the types of a deck (45).
pub fn energy<D: Draws>(types: [u8; 3], draws: &mut D) -> u8 {
    let count = types.iter().filter(|kind| **kind != 0).count();
    let drawn = chance::energy(draws).max(0) as usize;
    types[drawn % count.max(1)]
}
