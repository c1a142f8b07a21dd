//! Offers a user who has changed starters to merge them with what a release brings.

use knowhow_domain::job::task;
use serde::Deserialize;

use super::{JobResult, UserJob};
use crate::{Ctx, Priority, review};

/// All starters of a user that are changed.
#[derive(Deserialize)]
pub(super) struct OfferMerges {}

impl UserJob for OfferMerges {
    const TASK: &'static str = task::OFFER_MERGES;

    async fn run(self, ctx: &Ctx, _: Priority) -> JobResult {
        Ok(review::offer_merges(ctx).await?)
    }
}
