//! The prompts: what an agent is told about skills, and which it has.

use knowhow_domain::guidance;
use knowhow_domain::{Error, Result, Scope};
use knowhow_ops::{dream, sessions, skills};
use rmcp::model::{GetPromptResult, Prompt, PromptMessage, Role};

use super::caller::Caller;

/// When to save and when to patch: the same for everybody.
const GUIDANCE: &str = "skills-guidance";
/// The user's index block.
const INDEX: &str = "skills-index";
/// The snapshot, which has both in it: the session's own where one is named, else the current one.
const FROZEN: &str = "frozen-context";
/// What is learned from the user's conversations.
const LEARNING: &str = "learning-status";

const GUIDANCE_TEXT: &str = "Tells an agent when to look for, save and patch skills: a constant for the system prompt.";
const INDEX_TEXT: &str = "The user's skills, one line each, as a block for the system prompt.";
const FROZEN_TEXT: &str = "The frozen block for the system prompt: guidance, soul, index of skills, core memories, last \
    conversations. The same data give the same bytes, and a session that is named keeps the block it began with.";

const LEARNING_TEXT: &str = "What an agent can tell its user of what is learned: changes that wait for a person, what dreams have changed \
    lately, requests that come again without a skill, and skills that failed.";

pub(super) fn all() -> [Prompt; 4] {
    let prompt = |name: &str, title: &str, text: &str| Prompt::new(name, Some(text), None).with_title(title);
    [
        prompt(GUIDANCE, "Guidance on skills", GUIDANCE_TEXT),
        prompt(INDEX, "Index of skills", INDEX_TEXT),
        prompt(FROZEN, "Frozen context", FROZEN_TEXT),
        prompt(LEARNING, "Learning status", LEARNING_TEXT),
    ]
}

/// What a caller needs for the prompt of that name, where it needs anything.
pub(super) fn scope(name: &str) -> Option<Scope> {
    match name {
        INDEX | LEARNING => Some(Scope::SkillsRead),
        FROZEN => Some(Scope::Sessions),
        _ => None,
    }
}

/// Those that the caller's scopes allow.
pub(super) fn list(caller: &Caller) -> Vec<Prompt> {
    let visible = |prompt: &Prompt| scope(&prompt.name).is_none_or(|scope| caller.principal().require(scope).is_ok());
    all().into_iter().filter(visible).collect()
}

/// Renders one.
///
/// # Errors
/// `NotFound` for another name.
pub(super) async fn get(caller: &Caller, name: &str) -> Result<GetPromptResult> {
    let (text, about) = match name {
        GUIDANCE => (guidance::FULL.to_owned(), GUIDANCE_TEXT),
        INDEX => (skills::index_block(caller.ctx()?).await?, INDEX_TEXT),
        FROZEN => (sessions::get_frozen_text(caller.ctx()?).await?, FROZEN_TEXT),
        LEARNING => (dream::tell_learning(caller.ctx()?).await?, LEARNING_TEXT),
        _ => return Err(Error::not_found("prompt")),
    };
    Ok(GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]).with_description(about))
}
