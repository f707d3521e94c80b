//! One seed for each sub-environment, from one for the batch.

/// The seed of a sub-environment. Sub-environments of one batch, and of batches with neighbouring seeds, have nothing in
/// common.
///
/// The finalizer is SplitMix64's (Steele, Lea and Flood, 2014), applied to the batch's seed first and to the sub-environment
/// after.
pub fn seed_of(seed: u64, env_index: usize) -> u64 {
    mixed(mixed(seed).wrapping_add((env_index as u64).wrapping_mul(GOLDEN)))
}

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

fn mixed(number: u64) -> u64 {
    let number = number.wrapping_add(GOLDEN);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}
