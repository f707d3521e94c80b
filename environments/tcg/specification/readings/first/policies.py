"""Scripted players that bring games where random play hardly ever gets, since that ends most turns at once."""

from questions import ATTACK, CHARGE, END_OR_DONE, HAND, SCRAP, USE


def busy(row, rng):
    """Do something at random as long as there is something else to do than to attack or to end the turn."""
    return _one_of(
        _legal(row), rng, lambda action: action != END_OR_DONE and not ATTACK <= action < USE and action < SCRAP
    )


def rival(row, rng):
    """Fill the bench, evolve and play trainers, give energy to the active Pokémon first, and attack."""
    actions = _legal(row)
    for wanted in (
        lambda action: HAND <= action < HAND + 20 or USE <= action < USE + 4,
        lambda action: action == CHARGE,
        lambda action: action == ATTACK + 1,
        lambda action: action == ATTACK,
        lambda action: CHARGE <= action < SCRAP,
        lambda action: action == END_OR_DONE,
    ):
        found = [action for action in actions if wanted(action)]
        if found:
            return found[rng.randint(len(found))]
    return _one_of(actions, rng, lambda action: True)


def _legal(row):
    return [action for action, is_legal in enumerate(row["legal_actions"]) if is_legal]


def _one_of(actions, rng, wanted):
    """One that is wanted, else an attack or what else there is, else anything."""
    found = [action for action in actions if wanted(action)] or [action for action in actions if action] or actions
    return found[rng.randint(len(found))] if found else 0


POLICIES = {"busy": busy, "rival": rival}
