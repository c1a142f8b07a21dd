use serde_json::json;

use super::*;

#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
struct Pair {
    a: u8,
    b: u8,
}

#[derive(Debug, PartialEq, Deserialize)]
struct Holder {
    #[serde(deserialize_with = "as_object")]
    pair: Pair,
    #[serde(default, deserialize_with = "as_object_or_null")]
    other: Option<Pair>,
}

#[test]
fn an_object_is_accepted_and_a_list_of_its_members_is_not() {
    let pair = Pair { a: 1, b: 0 };
    let read = |value| serde_json::from_value::<Holder>(value);
    assert_eq!(read(json!({"pair": {"a": 1}})).unwrap(), Holder { pair, other: None });
    assert_eq!(read(json!({"pair": {}, "other": null})).unwrap().other, None);
    assert_eq!(read(json!({"pair": {}, "other": {"b": 2}})).unwrap().other, Some(Pair { a: 0, b: 2 }));
    for wrong in [json!({"pair": []}), json!({"pair": [1, 2]}), json!({"pair": null}), json!({"pair": {}, "other": []})]
    {
        let error = read(wrong).unwrap_err().to_string();
        assert!(error.contains("expected a map"), "{error}");
    }
}
