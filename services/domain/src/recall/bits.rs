//! Numbers in as many bits as they need, one behind the other, the highest bit first.

/// So many times 2^low is far from the usual numbers.
const FAR: u32 = 31;

/// What is written so far.
#[derive(Debug, Default)]
pub(super) struct BitWriter {
    bytes: Vec<u8>,
    /// The bits that do not make a byte yet, and how many they are.
    pending: u64,
    count: u32,
}

impl BitWriter {
    /// Writes the lowest `count` bits of a number, at most 32.
    pub(super) fn put(&mut self, number: u32, count: u32) {
        let number = u64::from(number) & ((1 << count) - 1);
        self.pending = self.pending << count | number;
        self.count += count;
        while self.count >= 8 {
            self.count -= 8;
            self.bytes.push((self.pending >> self.count) as u8);
        }
    }

    /// Writes a number of at least 1, small ones in few bits: as many zeros as it has bits behind the first, then all of them. So 1
    /// takes one bit, 2 and 3 take three, up to 7 five (Elias 1975, the gamma code).
    pub(super) fn put_gamma(&mut self, number: u32) {
        let length = number.max(1).ilog2();
        self.put(1, length + 1);
        self.put(number, length);
    }

    /// Writes a number in few bits where most are about 2^low: `number >> low` zeros and a one, then the lowest `low` bits, at most 31
    /// (Rice 1979). One that is far larger is written whole behind [`FAR`] zeros, so that none takes more than 64 bits.
    pub(super) fn put_rice(&mut self, number: u32, low: u32) {
        let times = number >> low;
        self.put(1, times.min(FAR) + 1);
        self.put(number, if times < FAR { low } else { 32 });
    }

    /// Fills the last byte up with zeros.
    pub(super) fn fill_byte(&mut self) {
        if self.count > 0 {
            self.put(0, 8 - self.count);
        }
    }

    /// Takes the bits of another one, which is empty then.
    pub(super) fn append(&mut self, other: &mut Self) {
        for byte in other.bytes.drain(..) {
            self.put(u32::from(byte), 8);
        }
        self.put(other.pending as u32, other.count);
        (other.pending, other.count) = (0, 0);
    }

    /// Bits so far.
    pub(super) fn len(&self) -> usize {
        self.bytes.len() * 8 + self.count as usize
    }

    /// All bytes, the last one filled up.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.fill_byte();
        self.bytes.shrink_to_fit();
        self.bytes
    }
}

/// Reads what was written. Behind the last bit there are zeros without end.
#[derive(Debug, Clone, Default)]
pub(super) struct BitReader<'a> {
    bytes: &'a [u8],
    /// The next bit.
    at: usize,
}

impl<'a> BitReader<'a> {
    /// Begins at a byte.
    pub(super) fn new(bytes: &'a [u8], byte: usize) -> Self {
        Self { bytes, at: byte * 8 }
    }

    /// The next bits: at least 57 of them, the first one on top.
    fn peek(&self) -> u64 {
        let rest = self.bytes.get(self.at / 8..).unwrap_or_default();
        let next = rest.first_chunk().copied().unwrap_or_else(|| {
            let mut last = [0; 8];
            last.iter_mut().zip(rest).for_each(|(byte, own)| *byte = *own);
            last
        });
        u64::from_be_bytes(next) << (self.at % 8)
    }

    /// A number of so many bits, at most 32.
    pub(super) fn take(&mut self, count: u32) -> u32 {
        let taken = self.peek() >> 1 >> (63 - count);
        self.at += count as usize;
        taken as u32
    }

    /// See [`BitWriter::put_gamma`].
    pub(super) fn take_gamma(&mut self) -> u32 {
        let length = self.take_zeros();
        1 << length | self.take(length)
    }

    /// See [`BitWriter::put_rice`].
    pub(super) fn take_rice(&mut self, low: u32) -> u32 {
        let times = self.take_zeros();
        if times < FAR { times << low | self.take(low) } else { self.take(32) }
    }

    /// How many zeros there are before the next one, which is taken too. At most 31 are written.
    fn take_zeros(&mut self) -> u32 {
        let zeros = self.peek().leading_zeros().min(31);
        self.at += zeros as usize + 1;
        zeros
    }

    /// Leaves out so many bits.
    pub(super) fn skip(&mut self, count: usize) {
        self.at += count;
    }
}

#[cfg(test)]
mod tests;
