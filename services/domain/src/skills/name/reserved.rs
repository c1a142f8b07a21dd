//! Made by `make openapi` from the routes; do not edit.

/// Names that are fixed segments of routes below `/v1/skills/`: a skill of such a name could not be read by it.
pub const RESERVED: &[&str] = &["export", "import", "match", "suggest", "used"];
