//! Counts the tokens that dreams and reflections have used.

use knowhow_domain::Result;
use knowhow_domain::learning::dream::ModelCall;
use knowhow_store::WriteTx;
use knowhow_store::learning::dreams;

use crate::Ctx;

/// Counts the tokens that a prompt has used, regardless of its answer.
pub(crate) async fn count_tokens(ctx: &Ctx, tokens: i64) -> Result<()> {
    let mut tx = WriteTx::begin(&ctx.app.db, &ctx.principal, "dreams.book").await?;
    dreams::take_tokens(&mut tx, tokens, ctx.now());
    tx.commit().await
}

/// Queues the token counts of several calls, to be sent with COMMIT.
pub(crate) fn take_tokens(ctx: &Ctx, tx: &mut WriteTx, calls: &[ModelCall]) {
    let tokens = calls.iter().map(|call| call.tokens).sum();
    if tokens > 0 {
        dreams::take_tokens(tx, tokens, ctx.now());
    }
}
