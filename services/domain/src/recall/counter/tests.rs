use super::super::{Catalogue, FLOOR, Query, SkillText, search};
use super::*;

fn weakened(signals: Signals) -> Signals {
    let mut signals = signals;
    weaken(&mut signals);
    signals
}

const SAID: Signals = Signals {
    text: 2.0,
    body: 3.0,
    phrases: 1.0,
    trigger: 5.0,
    cover: 0.5,
    cosine: 0.4,
    is_guessed: false,
    example: 0.0,
    meaning: 0.4,
    counter: 0.0,
    depth: 0.3,
};

#[test]
fn a_repeated_counter_example_removes_all_signals() {
    let left = weakened(Signals { counter: 1.0, ..SAID });
    assert_eq!(left, Signals { counter: 1.0, depth: 0.3, ..Signals::default() });
}

#[test]
fn a_counter_example_counts_by_its_lead_over_description_and_examples() {
    for (counter, cosine, example, left) in [
        (0.5, 0.4, 0.0, 1.0),
        (0.56, 0.4, 0.0, 0.6),
        (0.65, 0.4, 0.0, 0.0),
        (0.75, 0.72, 0.0, 0.8),
        (0.75, 0.4, 0.75, 1.0),
        (0.9, 0.4, 0.84, 0.6),
    ] {
        let share = share_left(&Signals { counter, cosine, example, ..SAID });
        assert!((share - left).abs() < 1e-5, "{counter} {cosine} {example}: {share}");
    }
}

#[test]
fn a_counter_example_affects_only_its_skill_and_similar_messages() {
    let vectors: [[f32; 3]; 2] = [[1.0, 0.2, 0.0], [0.9, 0.0, 0.5]];
    let described = ["book a table in a restaurant", "book a room in a hotel"];
    let texts: Vec<SkillText<'_>> = ["book-table", "book-room"]
        .into_iter()
        .zip(described)
        .zip(&vectors)
        .map(|((name, description), vector)| SkillText {
            name,
            description,
            embedding: Some(vector),
            ..SkillText::default()
        })
        .collect();
    let catalogue = Catalogue::build(&texts);
    let counter: [f32; 3] = [0.6, 0.8, 0.0];
    let counter_examples = Examples::new(std::iter::once((0, &counter[..])));
    let find = |embedding: &[f32], counter_examples| {
        let message = "book a table in the library";
        let query = Query { message, embedding: Some(embedding), counter_examples, limit: 5, ..Query::default() };
        let ranking = search(&catalogue, &query);
        let of = |skill| ranking.hits.iter().find(|hit| hit.skill == skill).map_or(0.0, |hit| hit.score);
        ((of(0), of(1)), ranking.relevant(FLOOR).iter().any(|hit| hit.skill == 0))
    };
    let near = [0.6, 0.7, 0.0];
    let ((table, room), comes) = find(&near, None);
    let ((table_after, room_after), comes_after) = find(&near, Some(&counter_examples));
    assert!(table_after < table && room_after == room && comes && !comes_after);
    let far = [1.0, 0.2, 0.0];
    assert_eq!(find(&far, None), find(&far, Some(&counter_examples)));
}
