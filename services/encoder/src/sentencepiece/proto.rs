//! Parses the parts of SentencePiece's `ModelProto` that segmentation needs, in protobuf's wire format.

/// Type of an ordinary piece.
pub(super) const NORMAL: u64 = 1;
/// Type of the piece that stands for unknown characters.
pub(super) const UNKNOWN: u64 = 2;
/// Type of a special piece, such as `<s>`, that never matches text.
pub(super) const CONTROL: u64 = 3;

/// A piece of the vocabulary. Its id is its position in the file.
pub(super) struct Piece<'a> {
    pub(super) text: &'a str,
    pub(super) score: f32,
    pub(super) kind: u64,
}

/// The vocabulary, and the normaliser's compiled table.
pub(super) struct Model<'a> {
    pub(super) pieces: Vec<Piece<'a>>,
    pub(super) charsmap: &'a [u8],
}

/// The value of a protobuf field.
enum Value<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    Float(f32),
}

impl<'a> Model<'a> {
    /// Parses a model file. Returns `None` if it is damaged.
    pub(super) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let mut model = Self { pieces: Vec::new(), charsmap: &[] };
        each_field(bytes, |field, value| {
            match (field, value) {
                (1, Value::Bytes(piece)) => model.pieces.push(Piece::parse(piece)?),
                (3, Value::Bytes(normalizer)) => each_field(normalizer, |field, value| {
                    if let (2, Value::Bytes(charsmap)) = (field, value) {
                        model.charsmap = charsmap;
                    }
                    Some(())
                })?,
                _ => {}
            }
            Some(())
        })?;
        Some(model)
    }
}

impl<'a> Piece<'a> {
    fn parse(bytes: &'a [u8]) -> Option<Self> {
        let mut piece = Self { text: "", score: 0.0, kind: NORMAL };
        each_field(bytes, |field, value| {
            match (field, value) {
                (1, Value::Bytes(text)) => piece.text = std::str::from_utf8(text).ok()?,
                (2, Value::Float(score)) => piece.score = score,
                (3, Value::Number(kind)) => piece.kind = kind,
                _ => {}
            }
            Some(())
        })?;
        Some(piece)
    }
}

/// Calls `take` with each field of a message. Returns `None` if the message is damaged.
fn each_field<'a>(mut bytes: &'a [u8], mut take: impl FnMut(u64, Value<'a>) -> Option<()>) -> Option<()> {
    while !bytes.is_empty() {
        let key = varint(&mut bytes)?;
        let value = match key & 7 {
            0 => Value::Number(varint(&mut bytes)?),
            1 => {
                split(&mut bytes, 8)?;
                continue;
            }
            2 => {
                let length = usize::try_from(varint(&mut bytes)?).ok()?;
                Value::Bytes(split(&mut bytes, length)?)
            }
            5 => Value::Float(f32::from_le_bytes(split(&mut bytes, 4)?.try_into().ok()?)),
            _ => return None,
        };
        take(key >> 3, value)?;
    }
    Some(())
}

fn split<'a>(bytes: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (first, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(first)
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}
