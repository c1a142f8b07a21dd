//! The terms of a session, fixed with its first message. A request that resumes it with others is told those in force.

use knowhow_domain::Session;
use knowhow_domain::index::step_below;

use super::OpenSession;

/// Says which terms a request asks for and the resumed session does not have; `None` if there are none.
pub(super) fn notice(asked: &OpenSession, session: &Session) -> Option<String> {
    let channel = asked.channel.map(|channel| channel.as_str().to_owned());
    let terms = [
        ("channel", channel, session.channel.as_str().to_owned()),
        ("max_turns", asked.max_turns.map(|n| n.to_string()), session.max_turns.to_string()),
        ("index_budget", asked.index_budget.map(|n| step_below(n).to_string()), session.index_budget.to_string()),
        ("inline_top", asked.inline_top.map(|yes| yes.to_string()), session.inline_top.to_string()),
        ("tools", asked.tools.map(|tools| tools.as_str().to_owned()), session.tools.as_str().to_owned()),
    ];
    let others: Vec<String> = terms
        .into_iter()
        .filter_map(|(name, asked, kept)| asked.filter(|asked| *asked != kept).map(|_| format!("{name} {kept}")))
        .collect();
    (!others.is_empty()).then(|| {
        format!(
            "this session was resumed and keeps the terms it began with: {}; to change them, end it and open the key again",
            others.join(", ")
        )
    })
}
