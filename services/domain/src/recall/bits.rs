//! Variable-length bit codes for integers, packed without gaps, the highest bit first.

/// Minimum quotient at which a number is written in full instead of in Rice's code.
const FAR: u32 = 31;

/// Writes integers as bits.
#[derive(Debug, Default)]
pub(super) struct BitWriter {
    bytes: Vec<u8>,
    /// Bits that do not fill a byte yet; `count` is their number.
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

    /// Writes a number of at least 1 in Elias' gamma code (1975): a zero for each bit after the first, then all bits.
    /// 1 takes one bit, 2 and 3 take three, 4 to 7 take five.
    pub(super) fn put_gamma(&mut self, number: u32) {
        let length = number.max(1).ilog2();
        self.put(1, length + 1);
        self.put(number, length);
    }

    /// Writes a number in Rice's code (1979), which is short for numbers around 2^low: `number >> low` zeros and a one,
    /// then the lowest `low` bits. `low` is at most 31. Much larger numbers are written in full after [`FAR`] zeros, so
    /// that a code takes at most 64 bits.
    pub(super) fn put_rice(&mut self, number: u32, low: u32) {
        let times = number >> low;
        self.put(1, times.min(FAR) + 1);
        self.put(number, if times < FAR { low } else { 32 });
    }

    /// Pads the last byte with zeros.
    pub(super) fn fill_byte(&mut self) {
        if self.count > 0 {
            self.put(0, 8 - self.count);
        }
    }

    /// Moves all bits of another writer to the end of this one.
    pub(super) fn append(&mut self, other: &mut Self) {
        for byte in other.bytes.drain(..) {
            self.put(u32::from(byte), 8);
        }
        self.put(other.pending as u32, other.count);
        (other.pending, other.count) = (0, 0);
    }

    /// Returns the number of bits written.
    pub(super) fn len(&self) -> usize {
        self.bytes.len() * 8 + self.count as usize
    }

    /// Returns all bytes, the last one padded.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.fill_byte();
        self.bytes.shrink_to_fit();
        self.bytes
    }
}

/// Reads bit codes. Reads after the last bit return zeros.
#[derive(Debug, Clone, Default)]
pub(super) struct BitReader<'a> {
    bytes: &'a [u8],
    /// Index of the next bit.
    at: usize,
}

impl<'a> BitReader<'a> {
    /// Starts reading at a byte.
    pub(super) fn new(bytes: &'a [u8], byte: usize) -> Self {
        Self { bytes, at: byte * 8 }
    }

    /// Returns the next bits, at least 57 of them, left-aligned.
    fn peek(&self) -> u64 {
        let rest = self.bytes.get(self.at / 8..).unwrap_or_default();
        let next = rest.first_chunk().copied().unwrap_or_else(|| {
            let mut last = [0; 8];
            last.iter_mut().zip(rest).for_each(|(byte, own)| *byte = *own);
            last
        });
        u64::from_be_bytes(next) << (self.at % 8)
    }

    /// Reads a number of `count` bits, at most 32.
    pub(super) fn take(&mut self, count: u32) -> u32 {
        let taken = self.peek() >> 1 >> (63 - count);
        self.at += count as usize;
        taken as u32
    }

    /// Reads a number written by [`BitWriter::put_gamma`].
    pub(super) fn take_gamma(&mut self) -> u32 {
        let length = self.take_zeros();
        1 << length | self.take(length)
    }

    /// Reads a number written by [`BitWriter::put_rice`].
    pub(super) fn take_rice(&mut self, low: u32) -> u32 {
        let times = self.take_zeros();
        if times < FAR { times << low | self.take(low) } else { self.take(32) }
    }

    /// Reads the zeros before the next 1 bit, and that bit. Returns the number of zeros, at most 31.
    fn take_zeros(&mut self) -> u32 {
        let zeros = self.peek().leading_zeros().min(31);
        self.at += zeros as usize + 1;
        zeros
    }

    /// Skips `count` bits.
    pub(super) fn skip(&mut self, count: usize) {
        self.at += count;
    }
}

#[cfg(test)]
mod tests;
