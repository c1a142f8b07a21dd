//! Maps errors to MCP. A tool's failure becomes a result, which the model reads. Any other failure becomes a protocol
//! error.

use std::fmt::Write;

use knowhow_domain::{Error, Passage};
use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock, ErrorCode, MetaObject};
use serde_json::json;

use crate::http::ApiError;

/// Key in the `_meta` of a failed tool's result. Its value is the problem (RFC 9457), for programs.
pub const PROBLEM: &str = "dev.knowhow/problem";

/// Returns the result of a failed tool, with a text that describes the error and the next step.
pub fn tool_failure(error: Error, request_id: &str) -> CallToolResult {
    tool_refusal(advice(&error), error, request_id)
}

/// Returns the result of a failed tool, with a text that the tool provides.
pub fn tool_refusal(text: String, error: Error, request_id: &str) -> CallToolResult {
    let problem = ApiError::from(error).logged(request_id);
    let mut meta = MetaObject::default();
    meta.0.insert(PROBLEM.into(), json!(problem));
    let mut result = CallToolResult::error(vec![ContentBlock::text(text)]);
    result.meta = Some(meta);
    result
}

/// Returns a protocol error. A missing item and an item that belongs to another user are both reported as invalid
/// parameters (SEP-2640, Error Handling).
pub fn protocol_error(error: Error, uri: Option<&str>, request_id: &str) -> ErrorData {
    let code = match &error {
        Error::Malformed(_) | Error::NotFound { .. } | Error::Invalid(_) => ErrorCode::INVALID_PARAMS,
        _ => ErrorCode::INTERNAL_ERROR,
    };
    let message = match (&error, uri) {
        (Error::NotFound { what, .. }, Some(_)) => format!("there is no such {what}"),
        _ => error.to_string(),
    };
    let data = match uri {
        Some(uri) if code == ErrorCode::INVALID_PARAMS => json!({ "uri": uri }),
        _ => json!(ApiError::from(error).logged(request_id)),
    };
    ErrorData::new(code, message, Some(data))
}

fn advice(error: &Error) -> String {
    let message = sentence(&error.to_string());
    match error {
        Error::NotFound { what: "skill", .. } => {
            format!("{message} skill_list shows all names; skill_save creates a new skill.")
        }
        Error::NotFound { what: "version", .. } => format!("{message} skill_history without a version lists them."),
        Error::NotFound { what: "resource", .. } => format!("{message} skill_view without a path lists the files."),
        Error::Conflict { code: "pinned", .. } => {
            "The skill is pinned, so it cannot be deleted. Ask the user to unpin it first, or keep it.".into()
        }
        Error::VersionConflict { current_version } => format!(
            "Somebody else changed the skill: it is at version {current_version} now, and your change was not saved. \
             Call skill_view, repeat the change on that text, and send expected_version {current_version}."
        ),
        Error::Invalid(findings) => {
            let mut text = String::from("Correct this and call again:");
            for finding in findings {
                let member = finding.pointer.trim_start_matches('/').replace('/', ".");
                let member = if member.is_empty() { "arguments".into() } else { member };
                let _ = write!(text, "\n- {member}: {}", finding.detail);
            }
            text
        }
        Error::PatchNoMatch { edit, closest, difference } => {
            let mut text = format!("Edit {edit}: old_string was not found; no edit was applied.");
            if let Some(difference) = difference {
                let _ = write!(text, " {}", sentence(&difference.to_string()));
            }
            match closest.is_empty() {
                true => {
                    text.push_str(" The text has no similar passage: call skill_view and copy old_string from there.")
                }
                false => {
                    text.push_str(" Copy old_string exactly from one of the closest passages:");
                    passages(&mut text, closest);
                }
            }
            text
        }
        Error::PatchAmbiguous { edit, matches } => {
            let mut text = format!(
                "Edit {edit}: old_string occurs {} times; no edit was applied. Add surrounding text until it is \
                 unique, or set replace_all. It occurs at:",
                matches.len()
            );
            passages(&mut text, matches);
            text
        }
        Error::TooLarge { .. } => format!("{message} Shorten it, or move parts of the skill into a second skill."),
        Error::RateLimited { retry_after, .. } => format!("{message} Call again in {retry_after} s."),
        Error::Unavailable(_) => format!("{message} No change was made; call again in a few seconds."),
        Error::Internal(_) => "Internal error; no change was made. Call again once.".into(),
        _ => message,
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
