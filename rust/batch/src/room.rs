//! Room for many instances, found out before it is taken: a process that takes more than there is ends without a word.

use std::fmt;
use std::fs;
use std::path::Path;

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
    let before = resident();
    let mut made = Vec::new();
    made.try_reserve_exact(count).map_err(|_| NoRoom { count, bytes: size * count as u128, there: None })?;
    let sampled = count.min(SAMPLED);
    made.extend((0..sampled).map(|_| one.clone()));
    if let (Some(before), Some(now)) = (before, resident()) {
        let grown = now.saturating_sub(before) / sampled.max(1) as u128;
        demand(count, grown.max(size) * (count - sampled) as u128 + beside)?;
    }
    made.resize(count, one.clone());
    Ok(made)
}

fn demand(count: usize, bytes: u128) -> Result<(), NoRoom> {
    match [available(), of_group(), of_process()].into_iter().flatten().min() {
        Some(there) if bytes > there => Err(NoRoom { count, bytes, there: Some(there) }),
        _ => Ok(()),
    }
}

/// Bytes that the machine has left.
fn available() -> Option<u128> {
    kibibytes("/proc/meminfo", "MemAvailable:")
}

/// Bytes that this process's control group may still take: what a container has of its machine.
fn of_group() -> Option<u128> {
    let told = fs::read_to_string("/proc/self/cgroup").ok()?;
    let group = Path::new("/sys/fs/cgroup").join(told.lines().find_map(|line| line.strip_prefix("0::/"))?.trim());
    let number = |name: &str| fs::read_to_string(group.join(name)).ok()?.trim().parse::<u128>().ok();
    let file = |name: &str| field(group.join("memory.stat"), name)?.parse::<u128>().ok();
    let given_back = file("inactive_file ")? + file("active_file ")?; // what it holds of files makes room
    Some((number("memory.max")? + given_back).saturating_sub(number("memory.current")?))
}

/// Bytes of addresses that this process may still take.
fn of_process() -> Option<u128> {
    let most = field("/proc/self/limits", "Max address space")?.parse::<u128>().ok()?;
    Some(most.saturating_sub(kibibytes("/proc/self/status", "VmSize:")?))
}

fn resident() -> Option<u128> {
    kibibytes("/proc/self/status", "VmRSS:")
}

/// Bytes that the kernel tells in kibibytes, where it tells them.
fn kibibytes(file: &str, name: &str) -> Option<u128> {
    field(file, name)?.parse::<u128>().ok().map(|kibibytes| kibibytes << 10)
}

/// The word after a name in one of the kernel's files.
fn field(file: impl AsRef<Path>, name: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    rest.split_whitespace().next().map(str::to_owned)
}
