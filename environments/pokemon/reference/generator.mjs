// The chance of a seed, as Lockstep's Rust runtime makes it (rust/env/src/chance.rs): xoshiro256++ (Blackman and Vigna, 2019),
// filled by SplitMix64 (Steele and others, 2014). A battle here and one in the candidate in Rust that begin with the same
// seed roll the same, as long as they roll in the same order.

const GOLDEN = 0x9e3779b97f4a7c15n;
const cut = (word) => BigInt.asUintN(64, word);
const turned = (word, by) => (cut(word) << by) | (cut(word) >> (64n - by));

function mixed(word) {
  word = cut((word ^ (word >> 30n)) * 0xbf58476d1ce4e5b9n);
  word = cut((word ^ (word >> 27n)) * 0x94d049bb133111ebn);
  return word ^ (word >> 31n);
}

export class Generator {
  // `seed` is a BigInt of 64 bits.
  constructor(seed) {
    this.words = BigUint64Array.from([1n, 2n, 3n, 4n], (count) => mixed(cut(seed + count * GOLDEN)));
  }

  // The upper half of the next 64 bits.
  next() {
    const { words } = this;
    const sum = cut(words[0] + words[3]);
    const given = cut(turned(sum, 23n) + words[0]) >> 32n;
    const shifted = words[1] << 17n;
    words[2] ^= words[0];
    words[3] ^= words[1];
    words[1] ^= words[2];
    words[0] ^= words[3];
    words[2] ^= cut(shifted);
    words[3] = turned(words[3], 45n);
    return Number(given);
  }

  // One of so many values from `low` on.
  uniform(low, count) {
    return low + Math.floor((this.next() * count) / 2 ** 32);
  }
}
