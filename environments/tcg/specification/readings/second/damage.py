"""Damage (statements 50 to 52, 68, 69, 87)."""

from board import add_damage
from cards import CARDS, boost_of, named
from effect import Effect, armour_of, counter_of
from state import SHIELD_ALL

WEAKNESS = 20  # 50


def boost(effect: Effect) -> int:
    """87: what the supporter of this turn adds to the damage of the attacker."""
    if not effect.state.supporter:
        return 0
    amount, names = boost_of(CARDS[effect.state.supporter])  # 87
    if names and not named(effect.self_spot.pokemon, names):
        return 0  # 87
    return amount


def attack_damage(effect: Effect, place: int, damage: int) -> int:
    """50: the damage of an attack to the other player's Pokémon at a place, in this order."""
    if damage == 0:
        return 0  # 50, 102
    target = effect.other.spots[place]
    if place == 0:
        damage += boost(effect)  # 50, 87
    damage = max(0, damage - effect.me.weakened)  # 50, 75
    if damage == 0:
        return 0  # 50
    if place == 0 and target.pokemon.weak == effect.self_spot.pokemon.type:
        damage += WEAKNESS  # 50
    damage = max(0, damage - armour_of(target))  # 50
    if place == 0:
        if effect.other.shield == SHIELD_ALL:
            return 0  # 73
        damage = max(0, damage - effect.other.shield)  # 50, 73
    return damage


def strike(effect: Effect, place: int, damage: int) -> int:
    """Do the damage of the attack to the other player's Pokémon at a place. Returns what was added."""
    target = effect.other.spots[place]
    if not target.card:
        return 0
    damage = attack_damage(effect, place, damage)
    added = add_damage(target, damage)
    if place == 0 and damage > 0:  # 52  # ? 52: the damage that was worked out, also if nothing was left to add
        add_damage(effect.self_spot, counter_of(target))  # 52
    return added  # ? 71: what was added, so not more than the hit points that were left


def hit(effect: Effect, damage: int) -> None:
    """68: the damage, and what `more` added, to the foe."""
    effect.dealt = strike(effect, 0, damage + effect.more)  # 68
    effect.more = 0  # 67: only the next `hit`


def strike_chosen(effect: Effect, damage: int) -> None:
    """68: damage to the chosen Pokémon."""
    if effect.is_attack and effect.chosen_side is effect.other:
        strike(effect, effect.chosen_place, damage)  # 68
    else:
        add_damage(effect.chosen_spot, damage)  # 68: nothing changes it


def strike_bench(effect: Effect, damage: int) -> None:
    """68: damage to each benched Pokémon of the other player."""
    for place in effect.other.benched():
        strike(effect, place, damage)  # 68


def scatter(effect: Effect, times: int, damage: int) -> None:
    """69: one of the other player's Pokémon is chosen some times, then all the damage is done at once."""
    places = [place for place, spot in enumerate(effect.other.spots) if spot.card]
    picked = [places[effect.chance.pick(len(places))] for _ in range(times)]  # 69, 88: counted by rising place
    for place in places:
        strike(effect, place, damage * picked.count(place))  # 69
