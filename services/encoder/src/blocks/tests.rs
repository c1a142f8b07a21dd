use half::f16;

use super::{packed_len, unpack};

#[test]
fn low_halves_of_bytes_are_unpacked_first() {
    let mut block = f16::from_f32(0.5).to_le_bytes().to_vec();
    block.extend((0..16).map(|at| at | (15 - at) << 4));
    let mut row = [0.0; 32];
    unpack(&block, &mut row);
    let expected = (0..16_u8).chain((0..16).rev()).map(|stored| (f32::from(stored) - 8.0) / 2.0);
    assert!(row.into_iter().eq(expected), "{row:?}");
}

#[test]
fn each_block_of_a_row_has_its_own_scale() {
    let block = |scale: f32| [&f16::from_f32(scale).to_le_bytes()[..], &[0x99; 16]].concat();
    let blocks = [block(1.0), block(-2.0)].concat();
    assert_eq!(blocks.len(), packed_len(64));
    let mut row = [0.0; 64];
    unpack(&blocks, &mut row);
    assert_eq!((row[0], row[31], row[32], row[63]), (1.0, 1.0, -2.0, -2.0));
}
