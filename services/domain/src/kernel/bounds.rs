//! Checks numbers against the bounds in the schema of their type, which the API document shows.

use serde::{Deserialize, Deserializer};
use serde_json::Value;
use utoipa::openapi::{RefOr, Schema};
use utoipa::{Number, PartialSchema};

use crate::FieldError;

/// Returns an error for each member of `value`, an object of type `T`, that is outside the schema's `minimum` and
/// `maximum`. The member's pointer is below `pointer`. Absent members and null are valid.
pub fn out_of_bounds<T: PartialSchema>(value: &Value, pointer: &str) -> Vec<FieldError> {
    let RefOr::T(Schema::Object(schema)) = T::schema() else { return Vec::new() };
    let finding = |(name, member): (&String, &RefOr<Schema>)| {
        let RefOr::T(Schema::Object(member)) = member else { return None };
        let (least, most) = (as_float(member.minimum.as_ref()?), as_float(member.maximum.as_ref()?));
        let number = value.get(name)?.as_f64()?;
        let is_within = (least..=most).contains(&number);
        (!is_within).then(|| FieldError::new(format!("{pointer}/{name}"), detail(least, most, number)))
    };
    schema.properties.iter().filter_map(finding).collect()
}

fn as_float(number: &Number) -> f64 {
    match number {
        Number::Int(number) => *number as f64,
        Number::UInt(number) => *number as f64,
        Number::Float(number) => *number,
    }
}

fn detail(least: f64, most: f64, number: f64) -> String {
    let shown = match number {
        _ if number.abs() >= 1e15 => format!("{number:e}"),
        _ if number.fract() == 0.0 => number.to_string(),
        // Prints the number as a 32-bit float, without the extra digits of the conversion to 64 bits.
        _ => (number as f32).to_string(),
    };
    format!("must be {least} to {most}, is {shown}")
}

/// Reads a number from 0 to 1, or null, for `deserialize_with`. Checks the number as sent, because 1e39 is infinite as
/// a 32-bit float.
///
/// # Errors
/// The deserializer's error, for other values.
pub fn share_or_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f32>, D::Error> {
    let number = Option::<f64>::deserialize(deserializer)?;
    match number.filter(|number| !(0.0..=1.0).contains(number)) {
        Some(wrong) => Err(serde::de::Error::custom(detail(0.0, 1.0, wrong))),
        None => Ok(number.map(|number| number as f32)),
    }
}

#[cfg(test)]
mod tests;
