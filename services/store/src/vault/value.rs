//! Column types with stricter rules than their Postgres type. If a value violates them, the reader reports statement,
//! row and column.

use std::error::Error;

use knowhow_domain::{Attributes, ConversationSummary, ResourceEntry, ToolCall};
use serde::{Deserialize, Serialize};
use tokio_postgres::types::{FromSql, Type};
use uuid::Uuid;

type Refused = Box<dyn Error + Sync + Send>;

/// A text stored as bytes, because its digest is computed over them.
pub(crate) struct Utf8(String);

impl FromSql<'_> for Utf8 {
    fn from_sql(_: &Type, raw: &[u8]) -> Result<Self, Refused> {
        Ok(Self(String::from_utf8(raw.to_vec())?))
    }

    fn accepts(column: &Type) -> bool {
        *column == Type::BYTEA
    }
}

impl From<Utf8> for String {
    fn from(text: Utf8) -> Self {
        text.0
    }
}

/// The list of a skill's files other than SKILL.md.
pub(crate) struct Files(Vec<ResourceEntry>);

impl FromSql<'_> for Files {
    fn from_sql(column: &Type, raw: &[u8]) -> Result<Self, Refused> {
        let list = serde_json::Value::from_sql(column, raw)?;
        Ok(Self(serde_json::from_value(list)?))
    }

    fn accepts(column: &Type) -> bool {
        *column == Type::JSONB
    }
}

impl From<Files> for Vec<ResourceEntry> {
    fn from(files: Files) -> Self {
        files.0
    }
}

/// Frontmatter members of a skill that have no columns of their own.
#[derive(Serialize, Deserialize)]
pub(crate) struct StoredAttributes {
    #[serde(flatten)]
    pub(crate) shown: Attributes,
    /// Whether recall finds the skill only by its name.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) disable_model_invocation: bool,
    /// Name in the frontmatter, as a lookup key, if it differs from the skill's name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) alias: Option<String>,
}

impl FromSql<'_> for StoredAttributes {
    fn from_sql(column: &Type, raw: &[u8]) -> Result<Self, Refused> {
        let attributes = serde_json::Value::from_sql(column, raw)?;
        Ok(serde_json::from_value(attributes)?)
    }

    fn accepts(column: &Type) -> bool {
        *column == Type::JSONB
    }
}

/// Converts ids for Postgres, keeping their order.
pub(crate) fn uuids<T: Copy + Into<Uuid>>(ids: impl IntoIterator<Item = T>) -> Vec<Uuid> {
    ids.into_iter().map(Into::into).collect()
}

/// A position in a text, in bytes from its start.
pub(crate) struct Offset(usize);

impl FromSql<'_> for Offset {
    fn from_sql(column: &Type, raw: &[u8]) -> Result<Self, Refused> {
        Ok(Self(usize::try_from(i32::from_sql(column, raw)?)?))
    }

    fn accepts(column: &Type) -> bool {
        *column == Type::INT4
    }
}

impl From<Offset> for usize {
    fn from(offset: Offset) -> Self {
        offset.0
    }
}

/// The tool calls of a reply with their outcomes.
pub(crate) struct ToolCalls(Vec<ToolCall>);

impl FromSql<'_> for ToolCalls {
    fn from_sql(column: &Type, raw: &[u8]) -> Result<Self, Refused> {
        let list = serde_json::Value::from_sql(column, raw)?;
        Ok(Self(serde_json::from_value(list)?))
    }

    fn accepts(column: &Type) -> bool {
        *column == Type::JSONB
    }
}

impl From<ToolCalls> for Vec<ToolCall> {
    fn from(calls: ToolCalls) -> Self {
        calls.0
    }
}

/// The summary of a conversation.
pub(crate) struct Summary(ConversationSummary);

impl FromSql<'_> for Summary {
    fn from_sql(column: &Type, raw: &[u8]) -> Result<Self, Refused> {
        let summary = serde_json::Value::from_sql(column, raw)?;
        Ok(Self(serde_json::from_value(summary)?))
    }

    fn accepts(column: &Type) -> bool {
        *column == Type::JSONB
    }
}

impl From<Summary> for ConversationSummary {
    fn from(summary: Summary) -> Self {
        summary.0
    }
}
