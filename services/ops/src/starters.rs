//! The built-in skills that every user is given with their first session.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Starter {
    /// Its name, which its frontmatter carries too.
    pub name: &'static str,
    pub skill_md: &'static str,
}

/// All of them, by name.
pub const STARTERS: &[Starter] = &[
    Starter { name: "failure-patterns", skill_md: include_str!("../starters/failure-patterns/SKILL.md") },
    Starter { name: "iterative-planning", skill_md: include_str!("../starters/iterative-planning/SKILL.md") },
    Starter { name: "mcp-tool-guide", skill_md: include_str!("../starters/mcp-tool-guide/SKILL.md") },
    Starter { name: "memory-systems", skill_md: include_str!("../starters/memory-systems/SKILL.md") },
    Starter { name: "skills-and-rules", skill_md: include_str!("../starters/skills-and-rules/SKILL.md") },
];

#[cfg(test)]
mod tests;
