//! The command `knowhow seed-demo`: creates demo data for `make run`. It is idempotent.

use std::process::ExitCode;

use anyhow::{Result, bail};
use chrono::TimeDelta;
use clap::Args;
use knowhow_domain::{Error, Scope};
use knowhow_ops::tenants::{self, CreateKey, CreateTenant, MintToken};
use knowhow_ops::{App, Ctx, Principal, skills};

use super::create::{add_issuer, create_tenant};
use super::shell;
use super::token::{operator_token, user_token};
use crate::config::Config;
use knowhow_client::print;

const TENANT: &str = "demo";
const USER: &str = "demo-user";
const ADMIN: &str = "demo-admin";

/// Create the demo tenant
#[derive(Args)]
pub(super) struct SeedDemo {
    /// Keep this key if it still works, instead of creating another
    #[arg(long, env = "KNOWHOW_EXISTING_API_KEY", hide_env_values = true, value_name = "KEY")]
    existing_api_key: Option<String>,
}

impl SeedDemo {
    pub(super) async fn run(self, config: &Config) -> Result<ExitCode> {
        let app = shell::app(config)?;
        let month = TimeDelta::days(30);
        let operator = find_or_make_tenant(&app).await?;
        let of = |user: &str, roles| MintToken { user: user.to_owned(), scopes: Vec::new(), roles, ttl: month };
        let token = user_token(&app, &operator, of(USER, Vec::new())).await?;
        let tenant_admin = user_token(&app, &operator, of(ADMIN, vec!["tenant_admin".to_owned()])).await?;
        let user = app.gate.authenticate(&token, None).await?;
        skills::sync_starters(&Ctx::of(&app, &user)).await?;
        let api_key = self.api_key(&app, &operator).await?;
        let admin = operator_token(config, ADMIN, Some(TENANT), month)?;
        print::line(format!("KNOWHOW_TOKEN={token}"))?;
        print::line(format!("KNOWHOW_API_KEY={api_key}"))?;
        print::line(format!("KNOWHOW_ADMIN_TOKEN={admin}"))?;
        print::line(format!("KNOWHOW_TENANT_ADMIN_TOKEN={tenant_admin}"))?;
        Ok(ExitCode::SUCCESS)
    }

    async fn api_key(self, app: &App, operator: &Principal) -> Result<String> {
        if let Some(key) = self.existing_api_key
            && app.gate.authenticate(&key, None).await.is_ok_and(|p| p.tenant() == operator.tenant())
        {
            return Ok(key);
        }
        let scopes = vec![Scope::SkillsRead, Scope::SkillsWrite, Scope::Sessions, Scope::Memories];
        let key = CreateKey { name: "demo".into(), scopes, expires_at: None };
        Ok(tenants::create_key(&Ctx::of(app, operator), &key).await?.secret.to_string())
    }
}

async fn find_or_make_tenant(app: &App) -> Result<Principal> {
    match app.gate.operator_at_shell(Some(TENANT)).await {
        Ok(operator) if tenants::find_signing_issuer(&Ctx::of(app, &operator)).await?.is_some() => Ok(operator),
        Ok(operator) => {
            match add_issuer(app, &operator).await.map_err(|error| error.downcast()) {
                Ok(()) => {}
                // The issuer already exists, but its secret cannot be decrypted.
                Err(Ok(Error::Conflict { .. })) => bail!(
                    "the tenant '{TENANT}' of this database was created with another KNOWHOW_SECRET_KEY: use that \
                     one, or another database"
                ),
                Err(Ok(other)) => return Err(other.into()),
                Err(Err(other)) => return Err(other),
            }
            fresh(app).await
        }
        Err(Error::NotFound { .. }) => {
            let demo = CreateTenant { slug: TENANT.into(), name: Some("Demo".into()), settings: None, place: None };
            create_tenant(app, demo).await?;
            fresh(app).await
        }
        Err(other) => Err(other.into()),
    }
}

/// Returns the operator of the demo tenant. The cache of tenants is cleared first, so that the new issuer is found.
async fn fresh(app: &App) -> Result<Principal> {
    app.gate.state().forget_tenants();
    Ok(app.gate.operator_at_shell(Some(TENANT)).await?)
}
