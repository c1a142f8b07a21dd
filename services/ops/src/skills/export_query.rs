//! The options of an export.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// The format of an archive.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// A zip file.
    #[default]
    Zip,
    /// A gzip'd tar file.
    #[serde(rename = "tar.gz")]
    TarGz,
}

/// Options of an export.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ExportQuery {
    /// `zip` (the default) or `tar.gz`.
    #[param(inline)]
    pub format: Option<Format>,
    /// Write files that pass the validator of agentskills.io: unknown top-level keys are moved under `metadata`.
    pub strict: Option<bool>,
    /// Add `knowhow-examples.jsonl`, the messages after which skills were used. These are the user's own words, so
    /// omit them from an archive that will be shared.
    pub examples: Option<bool>,
}
