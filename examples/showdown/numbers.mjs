// What a player has to know of the first generation: numbers of species, types and moves by Showdown's ids, and points of moves.

const TYPES = ["Normal", "Fighting", "Flying", "Poison", "Ground", "Rock", "Bug", "Ghost", "Fire", "Water", "Grass", "Electric", "Psychic", "Ice", "Dragon"];

export function numbers(dex) {
  const species = dex.species.all().filter(({ num, forme }) => num >= 1 && num <= 151 && !forme);
  const moves = dex.moves.all().filter(({ num }) => num >= 1 && num <= 165);
  return {
    types: Object.fromEntries(TYPES.map((name, at) => [name, at + 1])),
    species: Object.fromEntries(species.map((one) => [one.id, { number: one.num, types: one.types }])),
    moves: Object.fromEntries(moves.map((one) => [one.id, { number: one.num, points: Math.min(Math.trunc((one.pp * 8) / 5), 61) }])),
  };
}
