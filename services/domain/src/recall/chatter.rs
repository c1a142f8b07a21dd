//! What people say that asks for no skill: greetings, thanks, talk about the assistant itself, orders to it. A message
//! whose embedding is near one of these is less likely to ask for a skill; a skill that answers it is nearer still.

const PHRASES: &str = include_str!("chatter.txt");

/// The phrases, to be embedded once for each model.
pub fn list_chatter() -> impl Iterator<Item = &'static str> {
    PHRASES.lines()
}
