"""Wrong candidates of the card game in Rust that somebody could plausibly write: each one statement of the rules misread."""

from __future__ import annotations

from tests.mutants.plant import Mutant


def _fault(name: str, file: str, before: str, after: str) -> Mutant:
    """A fault that shows in a step, at any leaf that the step changes."""
    return Mutant(name, ((before, after),), 2, ".*", file=f"rust/src/{file}.rs")


MUTANTS = (
    # The beginning (9 to 24)
    _fault("a free deck may have three types", "decks", "costs.count_ones() <= 2", "costs.count_ones() <= 3"),
    _fault("a line fits if the deck has room for one copy", "decks", "size += COPIES.saturating_sub(self.copies(number));", "size += 1;"),
    _fault("a trainer is brought to two copies at once", "decks", "(deck.copies(number) + 1).min(COPIES)", "COPIES"),
    _fault("the last basic Pokémon comes into the first hand", "decks", ".iter().position(|number| card(*number).kind == Kind::Basic)", ".iter().rposition(|number| card(*number).kind == Kind::Basic)"),
    _fault("a basic Pokémon changes places with the top card", "decks", "swap(FIRST_HAND - 1, at)", "swap(0, at)"),
    _fault("the second player draws the next energy first", "decks", "for side in &mut game.sides {\n        side.zone[1]", "for side in game.sides.iter_mut().rev() {\n        side.zone[1]"),
    _fault("who placed first is seen at once", "view", "if game.turn > 0 {", "if game.turn > 0 || other.active().is_there() {"),
    _fault("a fossil can be placed before the first turn", "legal", "done | of_hand(side, |card| card.kind == Kind::Basic)", "done | of_hand(side, |card| matches!(card.kind, Kind::Basic | Kind::Fossil))"),
    _fault("who placed last begins", "turn", "self.begin_turn(1 - player);\n        } else {\n            self.game.asked", "self.begin_turn(player);\n        } else {\n            self.game.asked"),
    # A turn (29 to 46)
    _fault("there is energy in the first turn", "turn", "if game.turn > 1 {", "if game.turn > 0 {"),
    _fault("the next energy stays in the second turn", "turn", "if game.turn > 1 {", "if game.turn > 2 {"),
    _fault("a hand of nine is full", "state", "if self.hand.pile.len() < FULL_HAND &&", "if self.hand.pile.len() < FULL_HAND - 1 &&"),
    _fault("energy that was not attached stays", "turn", "side.zone[0] = 0;\n", ""),
    _fault("one may evolve in turn 2", "questions", "if game.turn <= 2 ||", "if game.turn < 2 ||"),
    _fault("who came into play may evolve", "questions", "pokemon.card == evolution.from && pokemon.fresh == 0)", "pokemon.card == evolution.from)"),
    _fault("evolving heals", "questions", "pokemon.used = 0;\n", "pokemon.used = 0;\n    pokemon.damage = 0;\n"),
    _fault("conditions stay on who evolves", "questions", "    if place == ACTIVE {\n        side.on_active = OnActive::default();\n    }\n", ""),
    _fault("who evolved used its ability before", "questions", "    pokemon.used = 0;\n", ""),
    _fault("two supporters may be played", "legal", "game.supporter == 0 && side.gagged", "side.gagged"),
    _fault("a supporter is an item", "turn", "if kind == Kind::Supporter {", "if false && kind == Kind::Supporter {"),
    _fault("an ability of the active spot works anywhere", "legal", " && !(card.only_active && place > 0)", ""),
    _fault("an ability may be used again", "turn", "side.places[place].used = 1;\n", ""),
    _fault("the last Pokémon may be discarded", "legal", "card.kind == Kind::Fossil && has_others", "card.kind == Kind::Fossil"),
    _fault("a discarded fossil is a knockout", "turn", "side.throw(action - SCRAP);\n                self", "side.throw(action - SCRAP);\n                self.game.sides[1 - player].points += 1;\n                self"),
    _fault("a retreat is free of charge", "questions", "active.retreat.saturating_sub(game.eased)", "0 * active.retreat.saturating_sub(game.eased)"),
    _fault("a retreat may be repeated", "turn", "self.game.retreated = 1;\n", ""),
    _fault("a fossil may retreat", "legal", " && active.card().kind != Kind::Fossil;", ";"),
    _fault("who sleeps may retreat", "legal", "all |= attacks(side) | u64::from(may_retreat(game, side)) << LEAVE;\n    }", "all |= attacks(side);\n    }\n    all |= u64::from(may_retreat(game, side)) << LEAVE;"),
    _fault("a retreat leaves conditions", "state", "self.places.swap(ACTIVE, place);\n        self.on_active = OnActive::default();", "self.places.swap(ACTIVE, place);"),
    _fault("the type of an energy is rounded, not the rest", "turn", "types[drawn % count.max(1)]", "types[drawn * count / 6]"),
    # Attacks (47 to 52)
    _fault("who is paralysed may attack", "legal", "matches!(side.on_active.mind, ASLEEP | PARALYSED)", "matches!(side.on_active.mind, ASLEEP)"),
    _fault("confusion does not keep from attacking", "turn", "side.on_active.mind == CONFUSED && !chance::coin(self.draws)", "false && side.on_active.mind == CONFUSED && !chance::coin(self.draws)"),
    _fault("confusion is tails for success", "turn", "CONFUSED && !chance::coin", "CONFUSED && chance::coin"),
    _fault("a damage of 0 is raised", "damage", "if amount > 0 && place == ACTIVE { boost", "if place == ACTIVE { boost"),
    _fault("a weakness counts after the attacker was weakened to 0", "damage", "    if amount == 0 {\n        return 0;\n    }\n", ""),
    _fault("a weakness adds 30", "damage", "const WEAKNESS: u32 = 20;", "const WEAKNESS: u32 = 30;"),
    _fault("a benched Pokémon has its weakness", "damage", "if place == ACTIVE && target.weakness", "if target.weakness"),
    _fault("a boost counts on the bench", "damage", "if amount > 0 && place == ACTIVE {", "if amount > 0 {"),
    _fault("a shield protects the bench", "damage", "    if place == ACTIVE {\n        let shield", "    {\n        let shield"),
    _fault("who is knocked out counters nothing", "damage", "if place == ACTIVE && added > 0 {", "let falls = game.sides[effect.other].places[place].damage >= target.hp;\n    if place == ACTIVE && added > 0 && !falls {"),
    _fault("one type of a cost is enough", "data", ".all(|(cost, energy)| energy >= cost)", ".any(|(cost, energy)| *cost > 0 && energy >= cost)"),
    # Knockouts and the end (53 to 58)
    _fault("an ex is worth one point", "turn", "points += card.points;", "points += 1;"),
    _fault("four points are needed", "turn", "const POINTS: u8 = 3;", "const POINTS: u8 = 4;"),
    _fault("who has a reason first wins", "turn", "if reasons[0] != reasons[1] {\n            self.winner = Some(usize::from(reasons[1] > reasons[0]));", "if reasons != [0, 0] {\n            self.winner = Some(usize::from(reasons[0] == 0));"),
    _fault("having nobody in play is no reason by itself", "turn", "u8::from(enough) + u8::from(self.game.sides[1 - player].in_play() == 0)", "u8::from(enough)"),
    _fault("the game ends before the checkup of turn 30", "turn", "self.game.stage == CHECKED && self.game.turn == LAST_TURN", "self.game.stage == TURN_ENDED && self.game.turn == LAST_TURN"),
    _fault("there is a turn 31", "turn", "const LAST_TURN: u8 = 30;", "const LAST_TURN: u8 = 31;"),
    _fault("who is in turn fills the active spot first", "turn", "for who in [1 - player, player] {", "for who in [player, 1 - player] {"),
    # Conditions and the checkup (59 to 64)
    _fault("poison does 20", "turn", "side.active_mut().suffer(10);", "side.active_mut().suffer(20);"),
    _fault("who is poisoned and burned suffers once", "turn", "if side.on_active.burned > 0 {", "if side.on_active.burned > 0 && side.on_active.poisoned == 0 {"),
    _fault("paralysis ends at who was not in turn", "turn", "let mind = &mut self.game.sides[player].on_active.mind;", "let mind = &mut self.game.sides[1 - player].on_active.mind;"),
    _fault("who was in turn is checked last", "turn", "for who in [player, 1 - player] {", "for who in [1 - player, player] {"),
    # Words (65 to 91)
    _fault("`extra` forgets the cost", "words", ">= effect.attack.cost[at] + least", ">= least"),
    _fault("a shield of all lets conditions through", "effect", "Word::Inflict(_)\n                | Word::Strip", "Word::Strip"),
    _fault("a shield of all stops abilities, too", "effect", "stopped && self.is_attack && game", "stopped && game"),
    _fault("a shield lasts one turn less", "turn", "game.sides[1 - player].on_active.shield = 0;", "game.sides[player].on_active.shield = 0;"),
    _fault("a bar lasts until the own next turn", "turn", "(side.on_active.no_attack, side.on_active.no_retreat, side.on_active.weakened) = (0, 0, 0);", "(side.on_active.no_attack, side.on_active.weakened) = (0, 0);"),
    _fault("a gag is for ever", "turn", "side.gagged = 0;\n", ""),
    _fault("`spread` asks once", "questions", "game.left = game.left.saturating_sub(1);\n            return game.left > 0;\n        }\n        Word::Push", "game.left = 0;\n            return false;\n        }\n        Word::Push"),
    _fault("`choose` without anybody goes on", "run", "return if matches!(word, Word::Choose(..)) { Next::End } else { Next::Word };", "return Next::Word;"),
    _fault("who attacks chooses who is pushed away", "run", "if word == Word::Push { effect.other } else { effect.player }", "effect.player"),
    _fault("a found card is not seen", "words", "game.sides[player].hand.take(number, true);\n    }\n}\n\nfn call", "game.sides[player].hand.take(number, false);\n    }\n}\n\nfn call"),
    _fault("a card that was taken leaves what is known of the deck", "words", "    side.looked -= u8::from(at < usize::from(side.looked));\n", ""),
    _fault("a fossil can be found", "words", "filter.fits(*number) && card(*number).kind != Kind::Fossil", "filter.fits(*number)"),
    _fault("a shuffle keeps what was looked at", "state", "        self.looked = 0;\n", ""),
    _fault("the unknown one of equal cards leaves", "state", "let Some(at) = self.pile.up_to(number).checked_sub(1) else { return };", "let Some(at) = self.pile.cards.iter().position(|other| *other == number) else { return };"),
    _fault("a new card in a hand is known like its neighbour", "state", "self.known = below | u32::from(known) << at | (self.known & !below) << 1;", "self.known = below | u32::from(known) << at | (self.known & !below);"),
    _fault("cards that return from play are unknown", "words", "side.clear(ACTIVE).for_each(|number| side.hand.take(number, true));", "side.clear(ACTIVE).for_each(|number| side.hand.take(number, false));"),
    _fault("`redraw` draws one card less", "words", "side.shuffle(&chance::shuffle(draws));\n    (0..amount).for_each", "side.shuffle(&chance::shuffle(draws));\n    (1..amount).for_each"),
    _fault("`gather` leaves one behind", "words", "*active.energy_mut(kind) += std::mem::take(pokemon.energy_mut(kind));", "*active.energy_mut(kind) += std::mem::replace(pokemon.energy_mut(kind), 0).min(2);"),
    _fault("`ease` does not add up", "words", "game.eased += amount", "game.eased = amount"),
    _fault("a boost is for all Pokémon", "damage", "Word::Boost(amount, filter) if filter.fits(attacker) =>", "Word::Boost(amount, _) =>"),
    _fault("a copied attack needs no energy", "questions", "if attack.is_affordable(&game.sides[effect.player].active().energy) && !attack.copies() {", "if !attack.copies() {"),
    _fault("whose attack is copied stays chosen", "questions", "        game.chosen = 0;\n    }\n}", "    }\n}"),
    _fault("`silence` works on the bench", "legal", "!other.active().card().silence", "!other.places.iter().any(|pokemon| pokemon.card().silence)"),
    _fault("a pick is rounded to the nearest", "chance", "(drawn.clamp(0, PICKS - 1) as usize * things) >> 16", "((drawn.clamp(0, PICKS - 1) as usize * things + (1 << 15)) >> 16).min(things - 1)"),
    # What a player sees (96, 97)
    _fault("a player sees the other's hand", "view", "page.write(&known(&other.hand));", "page.write(&other.hand.pile.cards);"),
    _fault("a player sees the types of the other's deck", "view", "page.write(&own.types);", "page.write(&other.types);"),
    _fault("looked-at cards are those of the other's deck", "view", "if at < looked { own.deck.cards[at] }", "if at < looked { other.deck.cards[at] }"),
)  # fmt: skip
"""From the beginning of a game to what a player sees, in the order of the rules."""

RARE = (
    _fault("a fossil counts as a basic Pokémon of the first hand", "decks", "position(|number| card(*number).kind == Kind::Basic)", "position(|number| matches!(card(*number).kind, Kind::Basic | Kind::Fossil))"),
    _fault("armour is looked at on the active spot alone", "damage", "amount = amount.saturating_sub(u32::from(target.armour));", "amount = amount.saturating_sub(if place == ACTIVE { u32::from(target.armour) } else { 0 });"),
    _fault("an attack without damage is countered", "damage", "if place == ACTIVE && added > 0 {", "if place == ACTIVE {"),
    _fault("a burn is looked at before its damage", "turn", "                side.active_mut().suffer(20);\n                side.on_active.burned = u8::from(!chance::coin(self.draws));", "                let burns = u8::from(!chance::coin(self.draws));\n                side.on_active.burned = burns;\n                side.active_mut().suffer(20 * u32::from(burns));"),
    _fault("a run ends after 15 heads", "words", "const LONGEST_RUN: u8 = 16;", "const LONGEST_RUN: u8 = 15;"),
    _fault("`need all` asks for heads", "words", "Word::NeedAll => return effect.tails == 0,", "Word::NeedAll => return effect.heads > 0,"),
    _fault("`more` stays for the next `hit`", "words", "            effect.more = 0;\n", ""),
    _fault("a Pokémon without damage counts as hurt", "words", "Count::HurtFoe => u32::from(other.active().damage > 0)", "Count::HurtFoe => 1"),
    _fault("damage to the bench is no damage of an attack", "words", "if effect.is_attack && whose == effect.other {", "if effect.is_attack && whose == effect.other && place == ACTIVE {"),
    _fault("an attack to the own bench is changed by armour", "words", "if effect.is_attack && whose == effect.other {\n        damage::attack(game, effect, place, u32::from(amount));\n    } else {\n        game.sides[whose].places[place].suffer(u32::from(amount));\n    }", "if effect.is_attack && whose == effect.other {\n        damage::attack(game, effect, place, u32::from(amount));\n    } else {\n        let armour = game.sides[whose].places[place].card().armour;\n        game.sides[whose].places[place].suffer(u32::from(amount.saturating_sub(armour)));\n    }"),
    _fault("each choice of `scatter` does damage by itself", "words", "        picked[places[chance::pick(draws, there)]] += u32::from(amount);\n    }", "        damage::attack(game, effect, places[chance::pick(draws, there)], u32::from(amount));\n    }"),
    _fault("healing by an attack heals what was promised", "words", "Word::HealDealt => heal(game, player, effect.place, effect.dealt),", "Word::HealDealt => heal(game, player, effect.place, 50),"),
)  # fmt: skip
"""Faults that need two rare things at once, or a word that no card of this set uses so. How often they are found is not known yet."""
