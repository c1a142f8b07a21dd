//! Mounts the console, and makes the checks of its requests with the limits of REST.

use actix_web::HttpRequest;
use actix_web::dev::Payload;
use actix_web::web::{Bytes, Data};
use knowhow_console::{Address, Console, Credential, Entry, Pending, SessionCookie};
use knowhow_domain::{Error, Result};
use knowhow_ops::{App, Ctx};
use knowhow_store::{Bearer, ConsoleSession};

use crate::config::Config;
use crate::entry::{
    SharedState, admit_user, begin_work, note_caller, read_body, verify_console_session, verify_credential,
};

/// Returns the console, if it is enabled.
pub(super) fn console(config: &Config) -> Option<Data<Console>> {
    let has_certificate = !config.tls_certificate_path.is_empty();
    let address = Address::of(&config.public_url, has_certificate);
    config.console.then(|| Data::new(Console { entry: Box::new(ConsoleEntry), address }))
}

/// The checks of the console's requests.
struct ConsoleEntry;

impl Entry for ConsoleEntry {
    fn verify<'a>(&'a self, request: &'a HttpRequest, credential: Credential<'a>) -> Pending<'a, Bearer> {
        Box::pin(verify_credential(request, credential.token, credential.user))
    }

    fn resume<'a>(&'a self, request: &'a HttpRequest, cookie: &'a SessionCookie) -> Pending<'a, ConsoleSession> {
        Box::pin(verify_console_session(request, &cookie.tenant, &cookie.secret))
    }

    fn admit<'a>(&'a self, request: &'a HttpRequest, bearer: Bearer) -> Pending<'a, Ctx> {
        Box::pin(async move {
            let app = request.app_data::<Data<App>>().ok_or_else(|| Error::internal("no app"))?;
            let principal = app.gate.admit(bearer).await?;
            note_caller(&principal);
            begin_work(request, &principal).await?;
            let ctx = Ctx::of(app, &principal);
            admit_user(&ctx).await?;
            Ok(ctx)
        })
    }

    fn read_form(&self, request: &HttpRequest, payload: Payload, limit: usize) -> Pending<'static, Bytes> {
        Box::pin(read_body(request, payload, limit))
    }

    fn count_stranger(&self, request: &HttpRequest) -> Result<()> {
        let shared = request.app_data::<Data<SharedState>>().ok_or_else(|| Error::internal("no shared state"))?;
        shared.rates.count_stranger(request)
    }
}
