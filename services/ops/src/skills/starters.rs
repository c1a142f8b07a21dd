//! The built-in starter skills, which every user receives with the first session.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Starter {
    /// The starter's name, equal to the name in its frontmatter.
    pub name: &'static str,
    pub skill_md: &'static str,
}

/// All built-in starters, sorted by name.
pub const STARTERS: &[Starter] = &[
    Starter { name: "failure-patterns", skill_md: include_str!("../../starters/failure-patterns/SKILL.md") },
    Starter { name: "iterative-planning", skill_md: include_str!("../../starters/iterative-planning/SKILL.md") },
    Starter { name: "mcp-tool-guide", skill_md: include_str!("../../starters/mcp-tool-guide/SKILL.md") },
    Starter { name: "memory-systems", skill_md: include_str!("../../starters/memory-systems/SKILL.md") },
    Starter { name: "skills-and-rules", skill_md: include_str!("../../starters/skills-and-rules/SKILL.md") },
];

#[cfg(test)]
mod tests;
