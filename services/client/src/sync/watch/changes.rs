//! Watches a folder for changes.

use std::path::Path;

use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::mpsc::{Receiver, channel};

use crate::import::walk::PASSED_OVER;
use crate::sync::folder::is_ours;

/// Waits for the next change. If changes cannot be watched, waits forever.
pub(super) async fn changed(changes: &mut Option<(RecommendedWatcher, Receiver<()>)>) {
    let seen = match changes {
        Some((_, receiver)) => receiver.recv().await,
        None => None,
    };
    if seen.is_none() {
        std::future::pending::<()>().await;
    }
}

pub(super) fn watch(root: &Path) -> notify::Result<(RecommendedWatcher, Receiver<()>)> {
    let (sender, receiver) = channel(1);
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
        if event.as_ref().map_or(true, is_news) {
            // The queue holds one notification, which is enough for all changes until the next round.
            let _ = sender.try_send(());
        }
    })?;
    watcher.watch(&root.canonicalize()?, RecursiveMode::Recursive)?;
    Ok((watcher, receiver))
}

/// Returns whether an event may concern a skill. Reads do not, and neither do changes to the files of sync or tools.
fn is_news(event: &Event) -> bool {
    let is_a_tools = |path: &Path| path.iter().any(|part| PASSED_OVER.iter().any(|tool| part == *tool));
    let is_other = |path: &Path| is_ours(&path.to_string_lossy()) || is_a_tools(path);
    !matches!(event.kind, EventKind::Access(_))
        && (event.paths.is_empty() || !event.paths.iter().all(|path| is_other(path)))
}
