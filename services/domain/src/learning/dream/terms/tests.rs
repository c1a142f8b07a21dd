use chrono::NaiveDate;
use proptest::prelude::*;

use super::*;

fn find(texts: &[(usize, &str)]) -> Vec<String> {
    let request = |(session, text)| Request { session, day: NaiveDate::default(), failed: false, text, vector: &[] };
    let requests: Vec<Request<'_>> = texts.iter().copied().map(request).collect();
    find_terms(&requests).iter().map(Term::to_string).collect()
}

#[test]
fn words_of_several_sessions_are_terms() {
    assert_eq!(find(&[(1, "email report please"), (2, "email the team"), (3, "buy milk")]), ["email: 2 session(s)"]);
    assert_eq!(find(&[(1, "email email"), (1, "email")]), [""; 0]);
    assert_eq!(find(&[]), [""; 0]);
}

#[test]
fn forms_of_a_word_count_together() {
    let found = find(&[(1, "Emails!"), (2, "emails"), (3, "an email"), (4, "invoice"), (5, "invoices")]);
    assert_eq!(found, ["emails: 3 session(s)", "invoice: 2 session(s)"]);
}

#[test]
fn any_language_has_terms() {
    assert_eq!(find(&[(1, "какая погода"), (2, "погоды завтра")]), ["погода: 2 session(s)"]);
    assert_eq!(find(&[(1, "发送邮件"), (2, "读邮件")]), ["邮件: 2 session(s)"]);
    assert_eq!(find(&[(1, "天気予報を"), (2, "天気予報は")]), ["天気予報: 2 session(s)"]);
}

#[test]
fn at_most_fifteen_terms_are_returned_most_sessions_first() {
    let words: Vec<String> = (b'a'..=b'z').map(|c| format!("{0}{0}{0}{0}", char::from(c))).collect();
    let all = words.join(" ");
    let found = find(&[(1, &all), (2, &all), (3, "zzzz")]);
    assert_eq!(found.len(), 15);
    assert_eq!(found[0], "zzzz: 3 session(s)");
    assert_eq!(find(&[(1, "water kubernetes"), (2, "water kubernetes")])[0], "kubernetes: 2 session(s)");
}

proptest! {
    #[test]
    fn the_order_of_requests_does_not_matter(
        texts in prop::collection::vec((0_usize..4, "([a-c]{3,5} |字|件){0,6}"), 0..8),
    ) {
        let mut list: Vec<(usize, &str)> = texts.iter().map(|(session, text)| (*session, text.as_str())).collect();
        let found = find(&list);
        list.reverse();
        prop_assert_eq!(find(&list), found);
    }
}
