use serde_json::json;

use super::*;

#[derive(utoipa::ToSchema)]
#[expect(dead_code, reason = "its schema alone is read")]
struct BoundedExample {
    #[schema(minimum = 1, maximum = 10)]
    count: Option<u32>,
    #[schema(minimum = 0, maximum = 1)]
    share: f32,
    name: String,
}

#[test]
fn values_are_checked_against_the_bounds_of_the_schema() {
    let of = |value| out_of_bounds::<BoundedExample>(&value, "/shape");
    assert_eq!(of(json!({"count": 10, "share": 0.0, "name": "x"})), []);
    assert_eq!(of(json!({"count": null})), []);
    let wrong = of(json!({"count": 0, "share": 1.1_f32}));
    assert_eq!(
        wrong,
        [
            FieldError::new("/shape/count", "must be 1 to 10, is 0"),
            FieldError::new("/shape/share", "must be 0 to 1, is 1.1"),
        ]
    );
}

#[derive(Debug, serde::Deserialize)]
struct Shares {
    #[serde(default, deserialize_with = "share_or_null")]
    share: Option<f32>,
}

#[test]
fn a_share_is_checked_as_it_was_sent() {
    let read = |text: &str| serde_json::from_str::<Shares>(text).map(|read| read.share);
    for (text, share) in
        [("{}", None), (r#"{"share": null}"#, None), (r#"{"share": 1}"#, Some(1.0)), (r#"{"share": 0.25}"#, Some(0.25))]
    {
        assert_eq!(read(text).unwrap(), share, "{text}");
    }
    for (number, shown) in [("1e39", "1e39"), ("-1e308", "-1e308"), ("1.5", "1.5"), ("-1", "-1")] {
        let error = read(&format!(r#"{{"share": {number}}}"#)).unwrap_err().to_string();
        assert!(error.starts_with(&format!("must be 0 to 1, is {shown}")), "{error}");
    }
    assert!(read(r#"{"share": "NaN"}"#).is_err());
}

#[test]
fn numbers_that_32_bits_cannot_hold_are_out_of_bounds() {
    let wrong = out_of_bounds::<BoundedExample>(&json!({"count": 1e39, "share": -1e308}), "");
    let details: Vec<&str> = wrong.iter().map(|finding| finding.detail.as_str()).collect();
    assert_eq!(details, ["must be 1 to 10, is 1e39", "must be 0 to 1, is -1e308"]);
}
