use serde_json::json;

use super::*;

#[derive(utoipa::ToSchema)]
#[expect(dead_code, reason = "its schema alone is read")]
struct Shape {
    #[schema(minimum = 1, maximum = 10)]
    count: Option<u32>,
    #[schema(minimum = 0, maximum = 1)]
    share: f32,
    name: String,
}

#[test]
fn values_are_held_to_what_the_schema_declares() {
    let of = |value| out_of_bounds::<Shape>(&value, "/shape");
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
