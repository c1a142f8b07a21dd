use chrono::{DateTime, Utc};
use knowhow_domain::{IndexItem, SummaryBy};
use proptest::prelude::*;

use super::*;

fn item(texts: &[String], count: Count) -> IndexItem {
    let text = |at: usize| texts.get(at).cloned().unwrap_or_default();
    IndexItem {
        name: text(0),
        summary: text(1),
        summary_by: SummaryBy::Author,
        description: text(2),
        category: texts.get(3).cloned(),
        tags: texts.to_vec(),
        version: 7,
        times_used: count.times_used,
        last_used_at: count.last_used_at,
        updated_at: DateTime::<Utc>::UNIX_EPOCH,
        pinned: true,
        importance: 0.5,
        tainted: false,
        discovery: None,
        score: None,
        excluded: None,
        reason: None,
    }
}

fn written(rendered: &Rendered, count: &Count, more: &str) -> String {
    let mut out = Vec::new();
    rendered.write(count, more, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

proptest! {
    /// Renders texts that may themselves contain rendered counts.
    #[test]
    fn what_is_spliced_is_what_is_rendered(
        texts in prop::collection::vec(prop_oneof![".*", Just(UNUSED.to_owned()), Just(format!("\"{UNUSED}"))], 0..6),
        times_used in 0..i64::MAX,
        micros in prop::option::of(0..4_000_000_000_000_000_i64),
    ) {
        let count = Count { times_used, last_used_at: micros.and_then(DateTime::from_timestamp_micros) };
        let rendered = Rendered::of(&item(&texts, Count::default())).unwrap();
        prop_assert_eq!(written(&rendered, &count, ""), serde_json::to_string(&item(&texts, count)).unwrap());
        let found = IndexItem { score: Some(0.7), reason: Some("it \"fits\"".into()), ..item(&texts, count) };
        let more = r#","score":0.7,"reason":"it \"fits\"""#;
        prop_assert_eq!(written(&rendered, &count, more), serde_json::to_string(&found).unwrap());
    }
}

#[test]
fn an_object_without_counts_is_rejected() {
    assert!(Rendered::of(&serde_json::json!({"name": "a"})).is_err());
}
