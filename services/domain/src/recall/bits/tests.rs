use super::*;
use proptest::prelude::*;

#[derive(Debug, Clone, Copy)]
enum Piece {
    Bits(u32, u32),
    Gamma(u32),
    Rice(u32, u32),
}

fn any_piece() -> impl Strategy<Value = Piece> {
    prop_oneof![
        (any::<u32>(), 0..=32_u32)
            .prop_map(|(number, count)| Piece::Bits(number & ((1_u64 << count) - 1) as u32, count)),
        prop_oneof![1..20_u32, 1..=u32::MAX].prop_map(Piece::Gamma),
        (0..=31_u32, any::<u32>(), 0..=31_u32).prop_map(|(low, number, less)| Piece::Rice(number >> less, low)),
    ]
}

fn write(pieces: &[Piece]) -> BitWriter {
    let mut written = BitWriter::default();
    for piece in pieces {
        match *piece {
            Piece::Bits(number, count) => written.put(number, count),
            Piece::Gamma(number) => written.put_gamma(number),
            Piece::Rice(number, low) => written.put_rice(number, low),
        }
    }
    written
}

proptest! {
    #[test]
    fn numbers_come_back(one in prop::collection::vec(any_piece(), 0..20), other in prop::collection::vec(any_piece(), 0..20)) {
        let (mut written, mut appended) = (write(&one), write(&other));
        let bits = written.len() + appended.len();
        written.append(&mut appended);
        prop_assert_eq!((written.len(), appended.len()), (bits, 0));
        let bytes = written.finish();
        prop_assert_eq!(bytes.len(), bits.div_ceil(8));
        let mut reader = BitReader::new(&bytes, 0);
        for piece in one.iter().chain(&other) {
            match *piece {
                Piece::Bits(number, count) => prop_assert_eq!(reader.take(count), number),
                Piece::Gamma(number) => prop_assert_eq!(reader.take_gamma(), number),
                Piece::Rice(number, low) => prop_assert_eq!(reader.take_rice(low), number),
            }
        }
        prop_assert_eq!(reader.take(32), 0);
    }

    #[test]
    fn no_number_takes_more_than_64_bits(number: u32, low in 0..=31_u32) {
        prop_assert!(write(&[Piece::Rice(number, low)]).len() <= 64);
        prop_assert!(write(&[Piece::Gamma(number)]).len() <= 64);
    }
}
