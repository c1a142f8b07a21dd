//! Storage of matrix rows: blocks of thirty-two 4-bit numbers that share a scale.

use half::f16;

/// Number of numbers in a block.
const NUMBERS: usize = 32;
/// Size of a block in bytes: its scale as a 16-bit float, and half a byte for each number.
const BYTES: usize = 2 + NUMBERS / 2;
/// The stored 4-bit number that represents zero.
const ZERO: f32 = 8.0;

/// Returns the size in bytes of a stored row with `numbers` numbers.
pub(crate) const fn packed_len(numbers: usize) -> usize {
    numbers.div_ceil(NUMBERS) * BYTES
}

/// Unpacks the numbers of a row. In a block, the numbers from the low halves of the bytes come before those from the
/// high halves.
pub(crate) fn unpack(blocks: &[u8], row: &mut [f32]) {
    for (block, numbers) in blocks.as_chunks::<BYTES>().0.iter().zip(row.chunks_mut(NUMBERS)) {
        let [low, high, nibbles @ ..] = block;
        let scale = f16::from_le_bytes([*low, *high]).to_f32();
        let low = nibbles.iter().map(|byte| byte & 15);
        let high = nibbles.iter().map(|byte| byte >> 4);
        for (number, stored) in numbers.iter_mut().zip(low.chain(high)) {
            *number = (f32::from(stored) - ZERO) * scale;
        }
    }
}

#[cfg(test)]
mod tests;
