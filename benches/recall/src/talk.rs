//! Messages to coding agents as people would say them to an assistant: polite, and with details that no skill knows of.
//! Neither must count against a skill.

use sha2::{Digest, Sha256};

use crate::corpus::Message;

/// Longer messages have details of their own.
const LONGEST: usize = 160;

const BEFORE: [&str; 8] = [
    "",
    "hey, can you help me: ",
    "Could you please do this for me? ",
    "hi there, ",
    "I have to hand this in by Monday: ",
    "my boss asked me to take care of this: ",
    "Quick question. ",
    "ok so here is what I need, ",
];

const AFTER: [&str; 12] = [
    "",
    ", it is for Telekom",
    " please",
    ", for my sister's bakery in Leipzig",
    " before Friday, thanks!",
    ", Anna and Jonas are waiting for it",
    " because the customer complained yesterday",
    ", same as we did for the Hamburg office",
    ". I am on the train, so keep it short",
    ", it took 40 seconds yesterday",
    " for order 4411",
    ", you know what I mean",
];

/// The shorter coding messages among small talk, and everyday messages as they are, which ask for nothing there.
pub fn of(coding: &[Message], everyday: &[Message]) -> Vec<Message> {
    let said = coding.iter().filter(|message| message.text.chars().count() <= LONGEST).map(|message| {
        let digest = Sha256::digest(message.id.as_bytes());
        let (before, after) = (BEFORE[usize::from(digest[8]) % BEFORE.len()], AFTER[usize::from(digest[9]) % AFTER.len()]);
        let text = format!("{before}{}{after}", message.text.trim_end_matches(['.', '!', '?']));
        Message { text, ..message.clone() }
    });
    let strange = everyday.iter().map(|message| Message { relevant: Vec::new(), ..message.clone() });
    said.chain(strange).collect()
}
