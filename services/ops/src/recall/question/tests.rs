use super::*;

#[test]
fn the_rarest_words_of_a_long_question_are_kept() {
    let rare: Vec<String> = (10..70).map(|n| format!("zx{n}")).collect();
    let question = QuestionTerms::of(&format!("{} say make time year people way day man", rare.join(" "))).unwrap();
    assert_eq!((question.terms.len(), question.weights.len()), (TERMS, TERMS));
    assert!(rare.iter().all(|word| question.terms.contains(word)));
    assert!((question.weights.iter().sum::<f32>() - 1.0).abs() < 1e-4);
    let short = QuestionTerms::of("say zx10").unwrap();
    assert_eq!(short.terms, ["zx10", "say"]);
    assert!(short.weights[0] > short.weights[1] && QuestionTerms::of(" ").is_err());
}
