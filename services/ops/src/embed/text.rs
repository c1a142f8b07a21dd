//! What of a skill is embedded.

/// The text whose vector stands for a skill: what it is for, never how it is done.
pub fn embedded_text(name: &str, description: &str, triggers: &[String]) -> String {
    format!("{name}\n{description}\n{}", triggers.join("\n"))
}
