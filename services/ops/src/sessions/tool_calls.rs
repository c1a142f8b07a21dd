//! Validates the tool calls of a reply, given as a number or as a list with outcomes.

use std::fmt;

use knowhow_domain::{Error, Result, ToolCall};
use serde::de::value::SeqAccessDeserializer;
use serde::de::{self, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use super::check_text;

/// Maximum number of tool calls in a list.
const CALLS: usize = 128;
/// Maximum number of characters in a tool's name.
const NAME_CHARS: usize = 128;
/// Maximum number of characters in an error message.
const ERROR_CHARS: usize = 1_000;

/// Tool calls: their number, or a list with outcomes.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(untagged)]
pub enum ToolCalls {
    /// The number of calls.
    Count(u32),
    /// The calls, in order.
    List(Vec<ToolCall>),
}

impl ToolCalls {
    /// Returns the number of calls, and the listed calls with their outcomes.
    ///
    /// # Errors
    /// `Invalid` if there are too many calls, or if a name or error message is invalid.
    pub(super) fn check(&self) -> Result<(i32, &[ToolCall])> {
        let (count, list) = match self {
            Self::Count(count) => (i32::try_from(*count).ok(), [].as_slice()),
            Self::List(list) => (i32::try_from(list.len()).ok(), list.as_slice()),
        };
        let count = count.ok_or_else(|| Error::invalid("/tool_calls", "is out of bounds"))?;
        if list.len() > CALLS {
            return Err(Error::invalid("/tool_calls", format!("takes at most {CALLS} calls, has {}", list.len())));
        }
        for (place, call) in list.iter().enumerate() {
            check_text(&format!("/tool_calls/{place}/name"), &call.name, NAME_CHARS)?;
            if let Some(error) = &call.error {
                check_text(&format!("/tool_calls/{place}/error"), error, ERROR_CHARS)?;
            }
        }
        Ok((count, list))
    }
}

impl<'de> Deserialize<'de> for ToolCalls {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberOrList)
    }
}

/// Deserializes a number or a list. For an invalid list, the error names the invalid member of the call.
struct NumberOrList;

impl<'de> Visitor<'de> for NumberOrList {
    type Value = ToolCalls;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a whole number of at least 0 or a list of calls")
    }

    fn visit_u64<E: de::Error>(self, count: u64) -> Result<ToolCalls, E> {
        let count = u32::try_from(count).map_err(|_| E::invalid_value(Unexpected::Unsigned(count), &self))?;
        Ok(ToolCalls::Count(count))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, calls: A) -> Result<ToolCalls, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(calls)).map(ToolCalls::List)
    }
}
