use super::{has_token, refuse_tokens};

const KEY: &str = "kh_a1b2c3d4e5f6_3q2-7wAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
const JWT: &str = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbGljZSJ9.c2lnbmF0dXJl";

#[test]
fn credentials_are_recognised_by_name_and_format() {
    for query in [
        "access_token=x",
        "ACCESS-TOKEN=x",
        "a=1&Token=",
        "api_key=x",
        "apiKey=x",
        "x-api-key=x",
        "key=x",
        "authorization=Bearer%20x",
        "limit=kh_abc",
        "kh_abc",
    ] {
        assert!(has_token(query), "{query}");
    }
    for value in [JWT, KEY, &format!("Bearer%20{JWT}"), &format!("bearer+{KEY}"), &format!("%20{JWT}%20")] {
        for query in [format!("limit={value}"), format!("a=1&q={value}"), value.to_owned(), format!("{value}=1")] {
            assert!(has_token(&query), "{query}");
            assert!(refuse_tokens(&query).is_err(), "{query}");
        }
    }
}

#[test]
fn ordinary_parameters_are_accepted() {
    let cursor = "cursor=eyJpZCI6IjAxOTJmMGMxIn0";
    for query in
        ["", "limit=5", "q=key%20of%20the%20attic", "tag=token", "prefix=key", "q=ey.es.open", "q=a.b.c", cursor]
    {
        assert!(refuse_tokens(query).is_ok(), "{query}");
    }
    for query in ["", "limit=5", "q=key%20of%20the%20attic", "tag=token", cursor] {
        assert!(!has_token(query), "{query}");
    }
    // The external id of a user may start like an API key.
    assert!(refuse_tokens("user=kh_customer_17").is_ok());
}
