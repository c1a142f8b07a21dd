//! The MCP prompts: guidance, the index of skills, the snapshot and the learning status.

use knowhow_domain::learning::guidance;
use knowhow_domain::{Error, Result, Scope};
use knowhow_ops::learning::dream;
use knowhow_ops::{sessions, skills};
use rmcp::model::{GetPromptResult, Prompt, PromptMessage, Role};

use super::caller::Caller;

/// Name of the prompt with advice on when to save and when to patch skills. Its text is the same for all users.
const GUIDANCE: &str = "skills-guidance";
/// Name of the prompt with the user's index of skills.
const INDEX: &str = "skills-index";
/// Name of the prompt with the snapshot of the named session, or the current snapshot. A snapshot contains the
/// guidance and the index.
const FROZEN: &str = "frozen-context";
/// Name of the prompt about the results of learning from the user's conversations.
const LEARNING: &str = "learning-status";

const GUIDANCE_TEXT: &str = "Guidance for agents on when to look for, save and patch skills: a constant text for the \
    system prompt.";
const INDEX_TEXT: &str = "The user's skills, one line each, as a block for the system prompt.";
const FROZEN_TEXT: &str = "The snapshot for the system prompt: guidance, soul, index of skills, core memories, last \
    conversations. The same data give the same bytes, and a named session keeps the snapshot it started with.";

const LEARNING_TEXT: &str = "Learning status for the user: changes that await review, recent changes by dreams, \
    repeated requests without a skill, and skills that failed.";

pub(super) fn all() -> [Prompt; 4] {
    let prompt = |name: &str, title: &str, text: &str| Prompt::new(name, Some(text), None).with_title(title);
    [
        prompt(GUIDANCE, "Guidance on skills", GUIDANCE_TEXT),
        prompt(INDEX, "Index of skills", INDEX_TEXT),
        prompt(FROZEN, "Frozen context", FROZEN_TEXT),
        prompt(LEARNING, "Learning status", LEARNING_TEXT),
    ]
}

/// Returns the scope that a prompt requires; `None` if any caller may read it.
pub(super) fn scope(name: &str) -> Option<Scope> {
    match name {
        INDEX | LEARNING => Some(Scope::SkillsRead),
        FROZEN => Some(Scope::Sessions),
        _ => None,
    }
}

/// Lists the prompts that the caller's scopes allow.
pub(super) fn list(caller: &Caller) -> Vec<Prompt> {
    let visible = |prompt: &Prompt| scope(&prompt.name).is_none_or(|scope| caller.principal().require(scope).is_ok());
    all().into_iter().filter(visible).collect()
}

/// Renders a prompt.
///
/// # Errors
/// `NotFound` for an unknown name.
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
