//! The tool calls of a reply: their number, or each with its outcome.

use std::fmt;

use knowhow_domain::{Error, Result, ToolCall};
use serde::de::value::SeqAccessDeserializer;
use serde::de::{self, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use utoipa::ToSchema;

use super::check_text;

/// Most calls in a list.
const CALLS: usize = 128;
/// Most characters of a tool's name.
const NAME_CHARS: usize = 128;
/// Most characters of an error message.
const ERROR_CHARS: usize = 1_000;

/// Tool calls: their number, or each with its outcome.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(untagged)]
pub enum ToolCalls {
    /// How many there were.
    Count(u32),
    /// Each of them, in their order.
    List(Vec<ToolCall>),
}

impl ToolCalls {
    /// Returns how many calls there were, and the outcomes that were given.
    ///
    /// # Errors
    /// `Invalid` for too many calls, and for a name or an error message out of its bounds.
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

/// Reads either form, and names the member of a call that does not fit.
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
