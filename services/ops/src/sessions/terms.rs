//! Compares the requested options of a session with its own, which are fixed with the first message. A request that
//! resumes a session with other options receives a notice.

use knowhow_domain::Session;
use knowhow_domain::skills::index::step_below;

use super::OpenSession;

/// Returns a notice that lists the options on which session and request disagree; `None` if they agree.
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

/// Returns a notice if the session's key contains characters that an HTTP header cannot contain.
pub(super) fn notice_of_key(session: &Session) -> Option<String> {
    let fits = session.key.chars().all(|c| c.is_ascii_graphic());
    (!fits).then(|| format!("the header Knowhow-Session cannot carry this key; send {} in it", session.id))
}
