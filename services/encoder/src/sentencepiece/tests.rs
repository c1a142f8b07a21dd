use super::proto::Model;
use super::trie::Trie;
use super::{SentencePiece, char_len};

/// Returns a model file in protobuf's wire format with these pieces: text, score and type.
fn model(pieces: &[(&str, f32, u8)]) -> Vec<u8> {
    let mut file = Vec::new();
    for (text, score, kind) in pieces {
        let mut piece = vec![0x0a, text.len() as u8];
        piece.extend(text.as_bytes());
        piece.push(0x15);
        piece.extend(score.to_le_bytes());
        piece.extend([0x18, *kind]);
        file.extend([0x0a, piece.len() as u8]);
        file.extend(piece);
    }
    file
}

fn read(name: &str, bytes: &[u8]) -> Result<SentencePiece, crate::ModelError> {
    let path = std::env::temp_dir().join(format!("knowhow-pieces-{}-{name}", std::process::id()));
    std::fs::write(&path, bytes).unwrap();
    let read = SentencePiece::read(&path);
    std::fs::remove_file(&path).unwrap();
    read
}

const SPECIAL: [(&str, f32, u8); 3] = [("<unk>", 0.0, 2), ("<s>", 0.0, 3), ("</s>", 0.0, 3)];

#[test]
fn the_segmentation_with_the_best_total_score_wins() {
    let pieces = [("▁a", -1.0, 1), ("▁ab", -9.0, 1), ("bc", -1.0, 1), ("c", -1.0, 1), ("b", -3.0, 1)];
    let pieces = read("sum", &model(&[&SPECIAL[..], &pieces].concat())).unwrap();
    assert_eq!(pieces.ids("abc", 100), [1, 3, 5, 2]);
    assert_eq!(pieces.ids("  a   b  ", 100), [1, 3, 0, 7, 2]);
    assert_eq!(pieces.ids("", 100), [1, 0, 2]);
    assert_eq!(pieces.ids("a<s>", 100).iter().filter(|id| **id == 1).count(), 1);
    assert_eq!(pieces.ids(&"abc".repeat(1000), 8).len(), 8);
}

#[test]
fn damaged_files_are_rejected() {
    let whole = model(&SPECIAL);
    for cut in 1..whole.len() {
        assert!(Model::parse(&whole[..cut]).is_none() || read("cut", &whole[..cut]).is_err(), "{cut}");
    }
    let error = |pieces: &[(&str, f32, u8)]| read("pieces", &model(pieces)).err().unwrap().to_string();
    assert!(error(&SPECIAL[..2]).contains("the piece </s> is missing"));
    assert!(error(&[&SPECIAL[..], &[("a", f32::NAN, 1)]].concat()).contains("no finite score"));
    let mut table = whole;
    table.extend([0x1a, 7, 0x12, 5, 200, 0, 0, 0, 1]);
    assert!(read("table", &table).err().unwrap().to_string().contains("its normalization table is damaged"));
}

#[test]
fn a_trie_finds_every_prefix() {
    let words = ["a", "ab", "abcd", "b", "ü", "abü"];
    let trie = Trie::new(words.iter().map(|word| word.as_bytes()).zip(0..).collect());
    let found = |text: &str| trie.prefixes(text.as_bytes()).collect::<Vec<_>>();
    assert_eq!(found("abcde"), [(1, 0), (2, 1), (4, 2)]);
    assert_eq!(found("abü"), [(1, 0), (2, 1), (4, 5)]);
    assert_eq!(found("üb"), [(2, 4)]);
    assert!(found("c").is_empty() && found("").is_empty());
    assert!(Trie::new(Vec::new()).prefixes(b"a").next().is_none());
}

#[test]
fn the_first_byte_determines_the_length_of_a_character() {
    for char in ['a', 'ü', '中', '🎉'] {
        let mut bytes = [0; 4];
        let text = char.encode_utf8(&mut bytes);
        assert_eq!(char_len(text.as_bytes()[0]), text.len());
    }
}
