//! What is refused, in the words of MCP: a tool's failure is a result that a model reads and acts on, everything else
//! an error of the protocol.

use std::fmt::Write;

use knowhow_domain::{Error, Passage};
use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock, ErrorCode, MetaObject};
use serde_json::json;

use crate::http::ApiError;

/// Key of `_meta` under which a failed tool's result carries the problem (RFC 9457) for programs.
pub const PROBLEM: &str = "dev.knowhow/problem";

/// A failure as a result: what happened, and what to do next.
pub fn tool_failure(error: Error, request_id: &str) -> CallToolResult {
    tool_refusal(advice(&error), error, request_id)
}

/// A failure as a result, in words of the tool's own.
pub fn tool_refusal(text: String, error: Error, request_id: &str) -> CallToolResult {
    let problem = ApiError::from(error).logged(request_id);
    let mut meta = MetaObject::default();
    meta.0.insert(PROBLEM.into(), json!(problem));
    let mut result = CallToolResult::error(vec![ContentBlock::text(text)]);
    result.meta = Some(meta);
    result
}

/// A failure as an error of the protocol. What is missing and what is somebody else's are invalid parameters alike
/// (SEP-2640, Error Handling).
pub fn protocol_error(error: Error, uri: Option<&str>, request_id: &str) -> ErrorData {
    let code = match &error {
        Error::Malformed(_) | Error::NotFound { .. } | Error::Invalid(_) => ErrorCode::INVALID_PARAMS,
        _ => ErrorCode::INTERNAL_ERROR,
    };
    let message = match (&error, uri) {
        (Error::NotFound { what, .. }, Some(_)) => format!("no such {what} is served here"),
        _ => error.to_string(),
    };
    let data = match uri {
        Some(uri) if code == ErrorCode::INVALID_PARAMS => json!({ "uri": uri }),
        _ => json!(ApiError::from(error).logged(request_id)),
    };
    ErrorData::new(code, message, Some(data))
}

fn advice(error: &Error) -> String {
    let said = sentence(&error.to_string());
    match error {
        Error::NotFound { what: "skill", .. } => {
            format!("{said} skill_list shows all names; skill_save makes a new skill.")
        }
        Error::NotFound { what: "version", .. } => format!("{said} skill_history without a version lists them."),
        Error::NotFound { what: "resource", .. } => format!("{said} skill_view without a path lists the files."),
        Error::Conflict { code: "pinned", .. } => {
            "The skill is pinned, so it cannot be deleted. Ask the user to unpin it first, or leave it.".into()
        }
        Error::VersionConflict { current_version } => format!(
            "Somebody changed the skill meanwhile: it is at version {current_version} now and nothing was changed. \
             Call skill_view, repeat the change on that text, and send expected_version {current_version}."
        ),
        Error::Invalid(findings) => {
            let mut text = String::from("Put this right and call again:");
            for finding in findings {
                let member = finding.pointer.trim_start_matches('/').replace('/', ".");
                let member = if member.is_empty() { "arguments".into() } else { member };
                let _ = write!(text, "\n- {member}: {}", finding.detail);
            }
            text
        }
        Error::PatchNoMatch { edit, closest } => {
            let mut text = format!("Edit {edit}: old_string was not found, and nothing was changed.");
            match closest.is_empty() {
                true => text.push_str(" Nothing in the text is like it: call skill_view and copy from there."),
                false => {
                    text.push_str(" Copy old_string exactly from one of the closest passages:");
                    passages(&mut text, closest);
                }
            }
            text
        }
        Error::PatchAmbiguous { edit, matches } => {
            let mut text = format!(
                "Edit {edit}: old_string occurs {} times, and nothing was changed. Add text around it until it is \
                 unique, or set replace_all. It occurs at:",
                matches.len()
            );
            passages(&mut text, matches);
            text
        }
        Error::TooLarge { .. } => format!("{said} Shorten it; parts of a skill can move into a second skill."),
        Error::RateLimited { retry_after, .. } => format!("{said} Call again in {retry_after} s."),
        Error::Unavailable(_) => format!("{said} Nothing was changed; call again in a few seconds."),
        Error::Internal(_) => "Something went wrong on our side; nothing was changed. Call again once.".into(),
        _ => said,
    }
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let start: String = letters.next().map(|first| first.to_uppercase().collect()).unwrap_or_default();
    let end = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{start}{}{end}", letters.as_str())
}

fn passages(text: &mut String, passages: &[Passage]) {
    for passage in passages {
        let _ = write!(text, "\n--- line {}\n{}", passage.line, passage.text);
    }
}
