//! Structs that are read from an object alone. Serde would take a list of their members in order too; nobody means that, and
//! with defaults the empty list would say "all of them".

use std::fmt::Formatter;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// Reads a member that is an object, for `deserialize_with`.
///
/// # Errors
/// The deserializer's, for anything but an object and for one that does not fit.
pub fn as_object<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    Object::deserialize(deserializer).map(|Object(value)| value)
}

/// Reads a member that is an object or null, for `deserialize_with`; beside `default` it may be absent.
///
/// # Errors
/// As [`as_object`].
pub fn as_object_or_null<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    Option::<Object<T>>::deserialize(deserializer).map(|object| object.map(|Object(value)| value))
}

/// A struct that is read from an object alone.
pub(crate) struct Object<T>(pub(crate) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ObjectVisitor(PhantomData))
    }
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = Object<T>;

    fn expecting(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(members)).map(Object)
    }
}

#[cfg(test)]
mod tests {
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
    fn an_object_is_read_and_a_list_of_its_members_is_not() {
        let pair = Pair { a: 1, b: 0 };
        let read = |value| serde_json::from_value::<Holder>(value);
        assert_eq!(read(json!({"pair": {"a": 1}})).unwrap(), Holder { pair, other: None });
        assert_eq!(read(json!({"pair": {}, "other": null})).unwrap().other, None);
        assert_eq!(read(json!({"pair": {}, "other": {"b": 2}})).unwrap().other, Some(Pair { a: 0, b: 2 }));
        for wrong in
            [json!({"pair": []}), json!({"pair": [1, 2]}), json!({"pair": null}), json!({"pair": {}, "other": []})]
        {
            let error = read(wrong).unwrap_err().to_string();
            assert!(error.contains("expected a map"), "{error}");
        }
    }
}
