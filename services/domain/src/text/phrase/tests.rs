use super::*;

const CIRQ: &str = "Google quantum computing framework. Use when targeting Google hardware, designing noise-aware \
        circuits or running characterization experiments. For IBM hardware use qiskit.";

#[test]
fn the_sentence_about_when_to_use_a_skill_is_dropped_last() {
    assert_eq!(shorten(CIRQ, 400), CIRQ);
    let (two, _) = CIRQ.split_once(" For IBM").unwrap();
    assert_eq!(shorten(CIRQ, 145), two);
    assert_eq!(shorten(CIRQ, 60), "Google quantum computing framework.");
    assert_eq!(shorten(CIRQ, 34), "Use when targeting Google hardware");
}

#[test]
fn boilerplate_is_dropped_first() {
    for (text, short) in [
        ("This skill should be used when people must meet. Extra.", "Use when people must meet."),
        ("Use this skill whenever mail is to be sent. Extra words.", "Use when mail is to be sent."),
        ("This skill helps you plan meetings. Extra words are here.", "Plan meetings."),
    ] {
        assert_eq!(shorten(text, short.len()), short);
    }
}

#[test]
fn sentences_end_with_a_phrase() {
    let within = |most: usize| move |text: &str| text.chars().count() <= most;
    for (text, most, short) in [
        (
            "When the user wants to find, qualify, and build a list of prospects to reach out to",
            60,
            "When the user wants to find, qualify",
        ),
        (
            "Provision users: no UI login, IP restrictions (CIDR, or single), minimum",
            50,
            "Provision users: no UI login, IP restrictions",
        ),
        ("Generates commit messages that explain why a change was made", 40, "Generates commit messages"),
        ("Supercalifragilistic expialidocious words", 25, "Supercalifragilistic…"),
        ("字字字字字字字字字字字字字字字字", 10, "字字字字字字字字字…"),
    ] {
        assert_eq!(shorten_sentence(text, within(most)), short, "{text}");
    }
}
