//! How large the parts of a skill may be.

/// Longest description, in characters (agentskills.io).
pub const DESCRIPTION_CHARS: usize = 1024;
/// Longest `compatibility`, in characters (agentskills.io).
pub const COMPATIBILITY_CHARS: usize = 500;
/// Largest frontmatter, in bytes.
pub const FRONTMATTER_BYTES: usize = 64 * 1024;
/// Longest skill name with its namespace, in characters.
pub const NAME_CHARS: usize = 200;
/// Longest segment of a skill name, in characters.
pub const SEGMENT_CHARS: usize = 64;
/// Most segments in a skill name.
pub const SEGMENTS: usize = 4;
/// Most words in a summary.
pub const SUMMARY_WORDS: usize = 15;

/// The configurable limits, in bytes unless said otherwise.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Largest body of a SKILL.md.
    pub body_bytes: usize,
    /// Most resources of one skill (a count).
    pub resources: usize,
    pub resource_bytes: usize,
    /// Largest sum of a skill's resources.
    pub resources_total_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: 256 * 1024,
            resources: 64,
            resource_bytes: 1024 * 1024,
            resources_total_bytes: 8 * 1024 * 1024,
        }
    }
}

impl Limits {
    /// The same for a text of any length: what is stored has passed the limits of its time, and what a tool reads from files is
    /// bounded by the service that it goes to.
    #[must_use]
    pub fn with_unbounded_body(&self) -> Self {
        Self { body_bytes: usize::MAX, ..self.clone() }
    }
}
