use super::*;

#[test]
fn places_are_parsed_into_names_and_urls() {
    let places = parse_others("eu-2=postgres://u:p=1@a,b/x?y=z\n  us1=postgres://c/d\n").unwrap();
    let read: Vec<(&str, &str)> = places.iter().map(|place| (place.name.as_str(), &*place.url)).collect();
    assert_eq!(read, [("eu-2", "postgres://u:p=1@a,b/x?y=z"), ("us1", "postgres://c/d")]);
    assert!(parse_others("").unwrap().is_empty());
}

#[test]
fn errors_about_invalid_places_omit_passwords() {
    let wrong = ["postgres://u:hush@a/x", "EU=postgres://u:hush@a/x", "a=postgres://u:hush@a/x a=postgres://b/x"];
    for text in wrong.into_iter().chain(["home=postgres://u:hush@a/x"]) {
        let error = parse_others(text).unwrap_err().to_string();
        assert!(error.starts_with("KNOWHOW_PLACES") && !error.contains("hush"), "{error}");
    }
}
