//! Embeds a text to search for, and defines the minimum cosine of a near text.

use std::sync::Arc;
use std::time::Duration;

use knowhow_domain::Result;
use tokio::time::Instant;

use super::embed;
use crate::Ctx;

/// Maximum wait of a search for the vector of its text. If it passes, only words are compared. It equals the default
/// of a turn.
pub(super) const PATIENCE: Duration = Duration::from_millis(500);

/// Minimum cosine at which a skill without common words counts as near. Of 100 random pairs of a message and a skill,
/// 1 or 2 reach it.
pub(crate) const NEAR: f32 = 0.27;

/// Returns the vector of a text to search for, if it is computed in time.
pub(crate) async fn embed_searched(ctx: &Ctx, text: &str) -> Result<Option<Arc<[f32]>>> {
    let (embedding, _) = embed(ctx, text, Some(Instant::now() + PATIENCE)).await?;
    Ok(embedding)
}
