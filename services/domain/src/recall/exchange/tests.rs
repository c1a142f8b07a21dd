use proptest::prelude::*;
use serde::Deserialize;

use super::*;

/// A conversation in one of fifteen languages, and the expected interpretation of its last message.
#[derive(Deserialize)]
struct ExpectedExchange {
    language: String,
    before: String,
    reply: String,
    message: String,
    kind: String,
    text: Option<String>,
    rest: Option<String>,
}

fn conversations() -> Vec<ExpectedExchange> {
    include_str!("conversations.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Returns the error in the interpretation of a message, if any.
fn misread(talk: &ExpectedExchange) -> Option<String> {
    let exchange = Exchange::of(&talk.before, &talk.reply);
    let meant = interpret(&talk.message, &exchange);
    let texts = match &meant {
        Interpretation::Texts(texts) => texts.clone(),
        _ => Vec::new(),
    };
    let has = |text: &Option<String>| text.as_ref().is_none_or(|text| texts.iter().any(|t| t.text.contains(text)));
    let has_expected = has(&talk.text) && has(&talk.rest);
    let is_right = match talk.kind.as_str() {
        "refuse" | "none" => meant == Interpretation::Nothing,
        "alone" => meant == Interpretation::Message,
        "agree" => texts.first().is_some_and(|text| text.origin == QueryOrigin::Offer) && has_expected,
        "pick" => texts.len() == 1 && has_expected,
        "agree+" => texts.len() > 1 && has_expected,
        _ => texts.len() == 2 && has_expected,
    };
    (!is_right).then(|| format!("{}: {} | {} -> {meant:?}", talk.language, talk.reply, talk.message))
}

#[test]
fn answers_are_interpreted_in_fifteen_languages() {
    let talks = conversations();
    let languages: std::collections::HashSet<&str> = talks.iter().map(|talk| talk.language.as_str()).collect();
    let wrong: Vec<String> = talks.iter().filter_map(misread).collect();
    assert!(languages.len() == 15 && talks.len() >= 60);
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), talks.len(), wrong.join("\n"));
}

fn read(message: &str, before: &str, reply: &str) -> Interpretation {
    interpret(message, &Exchange::of(before, reply))
}

fn texts(read: Interpretation) -> Vec<String> {
    match read {
        Interpretation::Texts(texts) => texts.into_iter().map(|text| text.text).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn a_complete_request_is_not_an_answer() {
    for message in [
        "please translate this contract into Spanish for our lawyer",
        "I need a table for two",
        "Good morning",
        "good night to all of you",
        "okay, please translate the contract into Spanish",
        "correct the spelling of this letter",
        "yesterday's report is missing",
        "可以帮我订一张桌子吗",
        "네트워크 상태를 확인해",
        "the first train to Berlin leaves when?",
        "noch eine Frage: wie wird das Wetter?",
    ] {
        assert_eq!(read(message, "hello", "Shall I book a table at Luigi's?"), Interpretation::Message, "{message}");
        assert!(own_words(message).is_some_and(|own| message.ends_with(own)), "{message}");
    }
}

#[test]
fn an_offer_without_content_is_searched_with_the_text_before_it() {
    let vague = texts(read("yes", "find a rental car in Rome", "Shall I go ahead?"));
    assert_eq!(vague, ["Shall I go ahead?", "find a rental car in Rome Shall I go ahead?"]);
    let before = texts(read("yes", "okay", "There is a small rental car in Rome for 40 euros. Shall I go ahead?"));
    assert_eq!(before, ["There is a small rental car in Rome for 40 euros. Shall I go ahead?"]);
}

#[test]
fn agreeing_to_a_reply_without_an_offer_searches_nothing() {
    for reply in ["Your table is booked.", "Done. Is there anything else?", "Hi! How can I help you?"] {
        for message in ["ok", "great, thanks a lot!", "perfect"] {
            assert_eq!(read(message, "hello", reply), Interpretation::Nothing, "{reply} {message}");
        }
    }
    assert_eq!(read("yes", "hello", "Is there anything else?"), Interpretation::Nothing);
    assert_eq!(read("cancel", "hello", "Shall I book a table?"), Interpretation::Nothing);
    assert_eq!(read("cancel", "hello", "Your table is booked."), Interpretation::Message);
}

#[test]
fn one_or_all_items_of_a_list_can_be_chosen() {
    let reply = "I can:\n- send an email to the team\n- plan a meeting";
    assert_eq!(texts(read("both please", "what now?", reply)), ["send an email to the team", "plan a meeting"]);
    assert_eq!(texts(read("option b", "hm", "Do you want (a) tea or (b) coffee?")), ["coffee"]);
    assert_eq!(texts(read("the first one", "hm", "Shall I book a table?")), ["Shall I book a table?"]);
}

#[test]
fn answers_contain_no_request() {
    for message in ["yes", "ok, do it", "no thanks", "and for Friday?", "the second one", "да", "好的", "yes for four"]
    {
        assert_eq!(own_words(message), None, "{message}");
    }
    let both = "yes, and also turn off the lights in the kitchen";
    assert_eq!(own_words(both), Some("turn off the lights in the kitchen"));
    assert_eq!(own_words("turn off the lights"), Some("turn off the lights"));
}

proptest! {
    #[test]
    fn any_message_and_reply_are_read(message in "\\PC{0,80}", before in "\\PC{0,40}", reply in "(\\PC{0,60}|\n|[?]|1\\) a|- b|\\(a\\) x){0,9}") {
        match read(&message, &before, &reply) {
            Interpretation::Texts(texts) => prop_assert!(!texts.is_empty() && texts.iter().all(|text| text.weight <= 1.0)),
            other => prop_assert!(other == Interpretation::Message || refers_back(&message)),
        }
        prop_assert!(own_words(&message).is_none_or(|own| message.contains(own)));
    }

    /// Asserts that a request after an agreement is searched for in addition to the offer.
    #[test]
    fn a_request_behind_an_agreement_is_kept(words in prop::collection::vec("[a-z]{9,14}", 4..9)) {
        let request = words.join(" ");
        let found = texts(read(&format!("yes, {request}"), "hm", "Shall I book a table at Luigi's?"));
        prop_assert_eq!(found, vec!["Shall I book a table at Luigi's?".to_owned(), request]);
    }
}
