//! Saved states: a byte format with a version, the cartridge's digest and a checksum, read without trust.

use std::fmt;

const MAGIC: &[u8; 8] = b"LOCKSTGB";
/// The version of the format. A state of another version is refused.
pub const STATE_VERSION: u16 = 1;
const HEADER: usize = MAGIC.len() + 2 + 8 + 8 + 8;

/// Why some bytes are not a state that can be loaded. The console is unchanged by a load that fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StateError {
    /// The bytes do not begin as a state does.
    NotAState,
    /// The state was saved by another version of the format.
    Version(u16),
    /// The state belongs to another cartridge, or to a console with another boot ROM or other options.
    OtherConsole,
    /// There are fewer or more bytes than the state says.
    Length,
    /// The checksum is wrong: a byte was changed.
    Checksum,
    /// The checksum is right and a field cannot be: the name of the field.
    Field(&'static str),
}

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAState => write!(f, "these bytes are not a saved Game Boy state"),
            Self::Version(v) => write!(f, "the state has version {v}, and this program reads version {STATE_VERSION}"),
            Self::OtherConsole => write!(f, "the state was saved with another cartridge, boot ROM or option"),
            Self::Length => write!(f, "the state is truncated or has bytes after its end"),
            Self::Checksum => write!(f, "the state's checksum is wrong: it was changed after it was saved"),
            Self::Field(name) => write!(f, "the state's field {name} has an impossible value"),
        }
    }
}

impl std::error::Error for StateError {}

/// The 64-bit FNV-1a hash.
pub(crate) fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3))
}

/// Appends `payload` under a header to `out`.
pub(crate) fn seal(out: &mut Vec<u8>, identity: u64, payload: &[u8]) {
    out.reserve(HEADER + payload.len());
    out.extend_from_slice(MAGIC);
    out.extend_from_slice(&STATE_VERSION.to_le_bytes());
    out.extend_from_slice(&identity.to_le_bytes());
    out.extend_from_slice(&(payload.len() as u64).to_le_bytes());
    out.extend_from_slice(&checksum(payload).to_le_bytes());
    out.extend_from_slice(payload);
}

/// The payload of sealed bytes, with everything about the header checked.
pub(crate) fn open(bytes: &[u8], identity: u64) -> Result<&[u8], StateError> {
    let body = bytes.strip_prefix(MAGIC).ok_or(StateError::NotAState)?;
    let mut header = Reader::new(body);
    let version = header.u16()?;
    if version != STATE_VERSION {
        return Err(StateError::Version(version));
    }
    let (owner, length, sum) = (header.u64()?, header.u64()?, header.u64()?);
    if owner != identity {
        return Err(StateError::OtherConsole);
    }
    let payload = header.rest;
    if payload.len() as u64 != length {
        return Err(StateError::Length);
    }
    if checksum(payload) != sum {
        return Err(StateError::Checksum);
    }
    Ok(payload)
}

/// FNV-1a over words of eight bytes: a state is saved at every reset and FNV by bytes would be most of the time.
fn checksum(payload: &[u8]) -> u64 {
    let (words, tail) = payload.split_at(payload.len() / 8 * 8);
    let start = fnv1a(tail);
    words.chunks_exact(8).fold(start, |hash, word| {
        let word = word.iter().rev().fold(0, |w, &b| w << 8 | u64::from(b));
        (hash ^ word).wrapping_mul(0x0100_0000_01B3).rotate_left(23)
    })
}

/// Writes fields in order, little endian.
#[derive(Default)]
pub(crate) struct Writer {
    pub(crate) bytes: Vec<u8>,
}

impl Writer {
    pub(crate) fn u8(&mut self, value: u8) {
        self.bytes.push(value);
    }
    pub(crate) fn bool(&mut self, value: bool) {
        self.bytes.push(u8::from(value));
    }
    pub(crate) fn u16(&mut self, value: u16) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }
    pub(crate) fn u64(&mut self, value: u64) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }
    pub(crate) fn i64(&mut self, value: i64) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }
    pub(crate) fn raw(&mut self, value: &[u8]) {
        self.bytes.extend_from_slice(value);
    }
}

/// Reads fields in the order in which they were written; every read can fail and none can panic.
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(crate) fn raw(&mut self, length: usize) -> Result<&'a [u8], StateError> {
        if length > self.rest.len() {
            return Err(StateError::Length);
        }
        let (head, tail) = self.rest.split_at(length);
        self.rest = tail;
        Ok(head)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], StateError> {
        let mut out = [0; N];
        out.copy_from_slice(self.raw(N)?);
        Ok(out)
    }

    pub(crate) fn fill(&mut self, out: &mut [u8]) -> Result<(), StateError> {
        out.copy_from_slice(self.raw(out.len())?);
        Ok(())
    }
    pub(crate) fn u8(&mut self) -> Result<u8, StateError> {
        Ok(self.array::<1>()?[0])
    }
    pub(crate) fn u16(&mut self) -> Result<u16, StateError> {
        Ok(u16::from_le_bytes(self.array()?))
    }
    pub(crate) fn u64(&mut self) -> Result<u64, StateError> {
        Ok(u64::from_le_bytes(self.array()?))
    }
    pub(crate) fn i64(&mut self) -> Result<i64, StateError> {
        Ok(i64::from_le_bytes(self.array()?))
    }

    /// A byte that is 0 or 1.
    pub(crate) fn bool(&mut self, name: &'static str) -> Result<bool, StateError> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(StateError::Field(name)),
        }
    }

    /// A byte of at most `most`.
    pub(crate) fn at_most(&mut self, most: u8, name: &'static str) -> Result<u8, StateError> {
        let value = self.u8()?;
        require(value <= most, name)?;
        Ok(value)
    }

    /// There is nothing left.
    pub(crate) fn end(&self) -> Result<(), StateError> {
        if self.rest.is_empty() { Ok(()) } else { Err(StateError::Length) }
    }
}

/// Fails with the name of the field unless `holds`.
pub(crate) fn require(holds: bool, name: &'static str) -> Result<(), StateError> {
    if holds { Ok(()) } else { Err(StateError::Field(name)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sealed() -> Vec<u8> {
        let mut out = Vec::new();
        seal(&mut out, 7, b"twelve bytes");
        out
    }

    #[test]
    fn what_was_sealed_is_opened() {
        assert_eq!(open(&sealed(), 7).unwrap(), b"twelve bytes");
    }

    #[test]
    fn every_changed_byte_is_seen() {
        for at in 0..sealed().len() {
            let mut bytes = sealed();
            bytes[at] ^= 0x10;
            assert!(open(&bytes, 7).is_err(), "byte {at}");
        }
    }

    #[test]
    fn every_other_length_is_seen() {
        for length in 0..sealed().len() {
            assert!(open(&sealed()[..length], 7).is_err(), "length {length}");
        }
        let mut longer = sealed();
        longer.push(0);
        assert_eq!(open(&longer, 7), Err(StateError::Length));
    }

    #[test]
    fn another_consoles_state_is_refused() {
        assert_eq!(open(&sealed(), 8), Err(StateError::OtherConsole));
    }

    #[test]
    fn a_flag_is_zero_or_one() {
        assert_eq!(Reader::new(&[2]).bool("flag"), Err(StateError::Field("flag")));
        assert_eq!(Reader::new(&[]).u8(), Err(StateError::Length));
    }
}
