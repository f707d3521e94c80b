//! Room for many instances, found out before it is taken: a process that takes more than there is ends without a word.

use std::fmt;
use std::fs;

/// After so many instances their size is known well enough.
const SAMPLED: usize = 1024;

/// There is not so much memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoRoom {
    /// How many instances were asked for.
    pub count: usize,
    /// Bytes that they would take.
    pub bytes: u128,
    /// Bytes that there are, where that is known.
    pub there: Option<u128>,
}

impl fmt::Display for NoRoom {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NoRoom { count, bytes, .. } = self;
        write!(formatter, "{count} environments would take {bytes} bytes of memory")?;
        match self.there {
            Some(there) => write!(formatter, "; there are {there}"),
            None => write!(formatter, ", which cannot be had"),
        }
    }
}

/// So many instances like one.
///
/// What each takes is its size, or by how much the process grew for the first ones, whichever is more; and `beside`, the
/// bytes of its rows in arrays that whoever asks will make.
///
/// # Errors
/// They would take more memory than there is.
pub fn many<T: Clone>(one: &T, count: usize, beside: usize) -> Result<Vec<T>, NoRoom> {
    let (size, beside) = (size_of::<T>() as u128, beside as u128 * count as u128);
    demand(count, size * count as u128 + beside)?;
    let before = resident_bytes();
    let mut made = Vec::new();
    made.try_reserve_exact(count).map_err(|_| NoRoom { count, bytes: size * count as u128, there: None })?;
    let sampled = count.min(SAMPLED);
    made.extend((0..sampled).map(|_| one.clone()));
    if let (Some(before), Some(now)) = (before, resident_bytes()) {
        let grown = now.saturating_sub(before) / sampled.max(1) as u128;
        demand(count, grown.max(size) * (count - sampled) as u128 + beside)?;
    }
    made.resize(count, one.clone());
    Ok(made)
}

fn demand(count: usize, bytes: u128) -> Result<(), NoRoom> {
    match told("/proc/meminfo", "MemAvailable:") {
        Some(there) if bytes > there => Err(NoRoom { count, bytes, there: Some(there) }),
        _ => Ok(()),
    }
}

fn resident_bytes() -> Option<u128> {
    told("/proc/self/status", "VmRSS:")
}

/// Bytes that the kernel tells in a file, where it tells them.
fn told(file: &str, name: &str) -> Option<u128> {
    let text = fs::read_to_string(file).ok()?;
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    rest.split_whitespace().next()?.parse::<u128>().ok().map(|kibibytes| kibibytes << 10)
}
