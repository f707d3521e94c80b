//! How an effect runs: word by word, up to a question or to its end (65).

use lockstep_env::Draws;

use crate::data::Word;
use crate::effect::Effect;
use crate::questions::{answers, asks, begin, take};
use crate::state::{ASKED, MAIN, Run};
use crate::turn::Play;
use crate::words::carry_out;

/// What comes after a word.
enum Next {
    Word,
    Answer,
    End,
}

impl<D: Draws> Play<'_, D> {
    /// Begin an effect: a part of a card, of self at a place.
    pub fn run(&mut self, card: u8, part: u8, place: usize) {
        self.game.run = Run { card, part, word: 0, place: place as u8 };
        self.go_on();
    }

    /// Take an answer, and go on.
    pub fn answer(&mut self, action: usize) {
        let effect = Effect::of(self.game);
        let Some(word) = effect.word(self.game) else { return };
        let before = self.game.run;
        if take(self.game, &effect, word, action) && answers(self.game, &effect, word) != 0 {
            return;
        }
        // A copied attack begins at its first word (89).
        if self.game.run == before {
            self.game.run.word += 1;
        }
        self.go_on();
    }

    fn go_on(&mut self) {
        let mut effect = Effect::of(self.game);
        while let Some(word) = effect.word(self.game) {
            let next = if effect.is_prevented(self.game, word) {
                Next::Word
            } else if asks(word) {
                self.ask(&effect, word)
            } else if carry_out(self.game, &mut effect, self.draws, word) {
                Next::Word
            } else {
                Next::End
            };
            match next {
                Next::Word => self.game.run.word += 1,
                Next::Answer => return,
                Next::End => break,
            }
        }
        self.finish(&effect);
    }

    fn ask(&mut self, effect: &Effect, word: Word) -> Next {
        if !begin(self.game, effect, word) {
            return Next::Word;
        }
        if answers(self.game, effect, word) == 0 {
            // Without a choice the rest is left out (77).
            return if matches!(word, Word::Choose(..)) { Next::End } else { Next::Word };
        }
        let who = if word == Word::Push { effect.other } else { effect.player };
        self.game.asked = who as u8;
        self.game.phase = ASKED;
        Next::Answer
    }

    fn finish(&mut self, effect: &Effect) {
        self.game.run = Run::default();
        (self.game.chosen, self.game.left) = (0, 0);
        (self.game.phase, self.game.asked) = (MAIN, self.game.player);
        if effect.is_attack {
            self.end_turn();
        } else {
            self.settle();
        }
    }
}
