//! Offers a user merges of changed starters with a new release.

use knowhow_domain::jobs::job::task;
use serde::Deserialize;

use super::{JobResult, UserJob};
use crate::{Ctx, Priority, review};

/// Offers merges of all changed starters of a user.
#[derive(Deserialize)]
pub(super) struct OfferMerges {}

impl UserJob for OfferMerges {
    const TASK: &'static str = task::OFFER_MERGES;

    async fn run(self, ctx: &Ctx, _: Priority) -> JobResult {
        Ok(review::offer_merges(ctx).await?)
    }
}
