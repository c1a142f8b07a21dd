//! Bounds of numbers are declared once, in the schema of a type, where the API's document shows them. Here values are held
//! to them.

use serde_json::Value;
use utoipa::openapi::{RefOr, Schema};
use utoipa::{Number, PartialSchema};

use crate::FieldError;

/// Members of `value`, an object of type `T`, that lie outside the `minimum` and `maximum` that the schema declares for them; each
/// with its pointer below `pointer`. Members that are absent or null are within.
pub fn out_of_bounds<T: PartialSchema>(value: &Value, pointer: &str) -> Vec<FieldError> {
    let RefOr::T(Schema::Object(schema)) = T::schema() else { return Vec::new() };
    let finding = |(name, member): (&String, &RefOr<Schema>)| {
        let RefOr::T(Schema::Object(member)) = member else { return None };
        let (least, most) = (as_float(member.minimum.as_ref()?), as_float(member.maximum.as_ref()?));
        let number = value.get(name)?.as_f64()?;
        // Of a 32-bit number no digits that it never had.
        let detail = format!("must be {least} to {most}, is {}", number as f32);
        let detail = if number.fract() == 0.0 { format!("must be {least} to {most}, is {number}") } else { detail };
        (!(least..=most).contains(&number)).then(|| FieldError::new(format!("{pointer}/{name}"), detail))
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

#[cfg(test)]
mod tests;
