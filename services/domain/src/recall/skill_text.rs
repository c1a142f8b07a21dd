//! The parts of a skill that recall searches.

/// The parts of a skill that recall searches.
#[derive(Debug, Clone, Copy, Default)]
pub struct SkillText<'a> {
    pub name: &'a str,
    /// Name in the frontmatter, if it differs from `name`.
    pub alias: Option<&'a str>,
    /// Purpose of the skill and when to use it.
    pub description: &'a str,
    /// Short phrases that ask for the skill.
    pub triggers: &'a [String],
    pub body: &'a str,
    /// Names of related skills.
    pub see_also: &'a [String],
    /// Whether the author allows recall by name only.
    pub reserved: bool,
    /// Embedding of name, description and triggers, if computed. All skills must have the same dimensions.
    pub embedding: Option<&'a [f32]>,
}
