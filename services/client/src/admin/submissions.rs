//! Commands that list, show and decide on submissions.

use anyhow::Result;
use clap::{Args, Subcommand};
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::admin::lines::{finding_line, flag, items, labelled, quoted, texts};
use crate::admin::requests::{AdminRequests, text, with};

/// Commands for submissions.
#[derive(Subcommand)]
pub(super) enum SubmissionCommand {
    /// List submissions, newest first: your own, or with --reason those of all users
    Submissions {
        /// Only submissions in this state: checking, needs_review, approved, rejected, stale, withdrawn, expired
        #[arg(long)]
        state: Option<String>,
        #[command(flatten)]
        access: Access,
    },
    /// Show a submission with its checks and, to reviewers, its change
    Submission {
        /// Id of the submission
        id: Uuid,
        #[command(flatten)]
        reason: Reason,
    },
    /// Approve a submission: exactly its text is applied, if the skill has not changed since
    Approve {
        /// Id of the submission
        id: Uuid,
        /// Comment on the decision
        #[arg(long)]
        comment: Option<String>,
        /// For a starter's update that conflicts with the user's changes: the text to apply
        #[arg(long, value_parser = ["mine", "theirs"])]
        take: Option<String>,
        #[command(flatten)]
        reason: Reason,
    },
    /// Reject a submission; the same change is rejected automatically from now on
    Reject {
        /// Id of the submission
        id: Uuid,
        /// Changes that are required for an approval
        #[arg(long)]
        comment: String,
        #[command(flatten)]
        reason: Reason,
    },
    /// Merge a submission with the skill's current version; the result awaits review as a new submission
    Rebase {
        /// Id of the submission
        id: Uuid,
        #[command(flatten)]
        reason: Reason,
    },
}

/// Reason to access users' data.
#[derive(Args)]
pub(super) struct Reason {
    /// For admins: reason to access another user's data, 8 to 200 characters, for the audit log
    #[arg(long)]
    reason: Option<String>,
}

/// Selects the user of an admin's request.
#[derive(Args)]
pub(super) struct Access {
    /// External id of the user; by default your own
    #[arg(long, value_name = "USER")]
    of: Option<String>,
    #[command(flatten)]
    reason: Reason,
}

impl Access {
    /// Adds the user to the query of a path.
    pub(super) fn path(&self, path: &str) -> String {
        match &self.of {
            Some(external_id) => with(path, "user", external_id),
            None => path.to_owned(),
        }
    }

    /// Returns the admin's reason.
    pub(super) fn reason(&self) -> Option<&str> {
        self.reason.reason.as_deref()
    }
}

impl AdminRequests {
    pub(super) async fn review_submissions(self, command: SubmissionCommand) -> Result<()> {
        match command {
            SubmissionCommand::Submissions { state, access } => {
                let path = access.path("/v1/submissions");
                let path = state.iter().fold(path, |path, state| with(&path, "state", state));
                self.with_reason(access.reason())?.list(&path, line_of, "there is no submission").await
            }
            SubmissionCommand::Submission { id, reason } => {
                let requests = self.with_reason(reason.reason.as_deref())?;
                let submission = requests.ask(Method::GET, &format!("/v1/submissions/{id}"), None).await?;
                requests.tell_lines(&submission, &lines_of(&submission))
            }
            SubmissionCommand::Approve { id, comment, take, reason } => {
                let body = json!({ "comment": comment, "take": take });
                self.with_reason(reason.reason.as_deref())?.decide(id, "approve", Some(&body)).await
            }
            SubmissionCommand::Reject { id, comment, reason } => {
                let body = json!({ "comment": comment });
                self.with_reason(reason.reason.as_deref())?.decide(id, "reject", Some(&body)).await
            }
            SubmissionCommand::Rebase { id, reason } => {
                self.with_reason(reason.reason.as_deref())?.decide(id, "rebase", None).await
            }
        }
    }

    async fn decide(&self, id: Uuid, verdict: &str, body: Option<&Value>) -> Result<()> {
        let answer = self.ask(Method::POST, &format!("/v1/submissions/{id}/{verdict}"), body).await?;
        self.tell(&answer, line_of(&answer))
    }
}

fn line_of(submission: &Value) -> String {
    format!(
        "{} {}: {} of {} for {} by {}{}{}, since {}",
        text(submission, "id"),
        text(submission, "state"),
        text(submission, "kind"),
        text(submission, "skill"),
        text(submission, "user"),
        text(submission, "submitter"),
        flag(", tainted", submission, "tainted"),
        labelled(", applied as version ", submission, "applied_version"),
        text(submission, "created_at"),
    )
}

fn lines_of(submission: &Value) -> Vec<String> {
    let details = [
        labelled("reason: ", submission, "reason"),
        labelled("session: ", submission, "session"),
        labelled("tainted by: ", submission, "tainted_by"),
        labelled("tainted in: ", submission, "tainted_in"),
        labelled("based on version: ", submission, "base_version"),
        labelled("based on digest: ", submission, "base_digest"),
        labelled("resulting digest: ", submission, "result_digest"),
        labelled("expires: ", submission, "expires_at"),
        labelled("decided by: ", submission, "decided_by"),
        labelled("decided: ", submission, "decided_at"),
        labelled("comment: ", submission, "comment"),
    ];
    let mut lines = vec![line_of(submission)];
    lines.extend(details.into_iter().filter(|line| !line.is_empty()));
    lines.extend(items(submission, "checks").iter().flat_map(check_lines));
    match submission["diff"].as_str() {
        Some(diff) => lines.extend(quoted(diff)),
        None => lines.push("only reviewers see the change".to_owned()),
    }
    lines
}

fn check_lines(check: &Value) -> Vec<String> {
    let rules = labelled(", rules ", check, "rules");
    let mut lines = vec![format!("check {}: {}{rules}", text(check, "step"), text(check, "outcome"))];
    lines.extend(texts(check, "reasons").iter().map(|reason| format!("  {reason}")));
    lines.extend(items(check, "findings").iter().map(finding_line));
    lines
}
