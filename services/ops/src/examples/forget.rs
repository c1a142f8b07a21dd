//! Forget: what was learned in a session that turned out to be tainted.

use knowhow_domain::Result;
use knowhow_store::{Principal, TenantTx, examples};
use uuid::Uuid;

use crate::App;

/// Removes what was learned in a session. It is called once the taint is there, so nothing more is learned in it.
pub(crate) async fn forget_session(app: &App, principal: &Principal, session: Uuid) -> Result<()> {
    let mut tx = TenantTx::begin(&app.db, principal).await?;
    examples::remove_of_session(&mut tx, session).await?;
    tx.commit().await
}
