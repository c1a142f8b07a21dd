//! Small talk: greetings, thanks, remarks and orders to the assistant. A message with an embedding near one of these is
//! less likely to need a skill, unless a skill is even nearer.

const PHRASES: &str = include_str!("chatter.txt");

/// Returns the phrases, to be embedded once per model.
pub fn list_chatter() -> impl Iterator<Item = &'static str> {
    PHRASES.lines()
}
