//! Sees what changes in a folder, and tells only that something has.

use std::path::Path;

use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};
use tokio::sync::mpsc::{Receiver, channel};

use crate::cli::import::walk::PASSED_OVER;
use crate::cli::sync::folder::is_ours;

/// Waits for a change; forever where none can be seen.
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
            // One that waits stands for all that follow.
            let _ = sender.try_send(());
        }
    })?;
    watcher.watch(&root.canonicalize()?, RecursiveMode::Recursive)?;
    Ok((watcher, receiver))
}

/// Whether an event may be of a skill: it is no mere reading, and of no file of ours or of a tool's.
fn is_news(event: &Event) -> bool {
    let is_a_tools = |path: &Path| path.iter().any(|part| PASSED_OVER.iter().any(|tool| part == *tool));
    let is_other = |path: &Path| is_ours(&path.to_string_lossy()) || is_a_tools(path);
    !matches!(event.kind, EventKind::Access(_))
        && (event.paths.is_empty() || !event.paths.iter().all(|path| is_other(path)))
}
