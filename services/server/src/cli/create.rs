//! The commands `knowhow tenant create` and `knowhow key create`.

use std::process::ExitCode;

use anyhow::{Context, Result};
use chrono::TimeDelta;
use clap::Subcommand;
use knowhow_domain::{Algorithm, Scope};
use knowhow_ops::tenants::{self, CreateIssuer, CreateKey, CreateTenant, UnderKeys};
use knowhow_ops::{App, Ctx, Principal};
use knowhow_store::vault::credential::api_key;

use super::move_tenant::MoveTenant;
use super::shell;
use crate::config::Config;
use knowhow_client::print;

/// Commands for tenants.
#[derive(Subcommand)]
pub(super) enum TenantCommand {
    /// Create a tenant, with an HS256 issuer for `knowhow token`
    Create {
        /// Lower-case letters and digits, joined by single dashes
        slug: String,
        /// Display name
        #[arg(long)]
        name: Option<String>,
        /// Database for the tenant: a name in KNOWHOW_PLACES, or home
        #[arg(long)]
        place: Option<String>,
    },
    /// Move a tenant to another database while it is in use; its requests are rejected for a moment
    Move(MoveTenant),
}

/// Commands for API keys.
#[derive(Subcommand)]
pub(super) enum KeyCommand {
    /// Create an API key and print it; it cannot be shown again
    Create {
        /// Slug of the tenant
        #[arg(long)]
        tenant: String,
        /// Name of the key
        #[arg(long, default_value = "command line")]
        name: String,
        /// Scopes, separated by commas
        #[arg(long, value_delimiter = ',', default_value = "skills:read,skills:write,sessions,memories")]
        scope: Vec<String>,
        /// Days until the key expires; by default never
        #[arg(long)]
        days: Option<u32>,
    },
    /// Encrypt again secrets that are encrypted with KNOWHOW_SECRET_KEY_PREVIOUS: those of issuers and webhooks
    Reseal,
}

impl TenantCommand {
    pub(super) async fn run(self, config: &Config) -> Result<ExitCode> {
        let (slug, name, place) = match self {
            Self::Create { slug, name, place } => (slug, name, place),
            Self::Move(order) => return order.run().await,
        };
        let app = shell::app(config)?;
        create_tenant(&app, CreateTenant { slug: slug.clone(), name, settings: None, place }).await?;
        print::line(slug)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Creates a tenant, and an issuer that lets this service sign tokens for the tenant.
pub(super) async fn create_tenant(app: &App, tenant: CreateTenant) -> Result<()> {
    let nowhere = app.gate.operator_at_shell(None).await?;
    tenants::create_tenant(&Ctx::of(app, &nowhere), &tenant).await?;
    app.gate.state().forget_tenants();
    let operator = app.gate.operator_at_shell(Some(&tenant.slug)).await?;
    add_issuer(app, &operator).await
}

/// Registers an HS256 issuer with a new random secret.
pub(super) async fn add_issuer(app: &App, operator: &Principal) -> Result<()> {
    let (_, secret) = api_key::generate()?;
    let issuer = CreateIssuer {
        iss: format!("knowhow-dev/{}", operator.tenant_slug()),
        audience: None,
        algorithm: Algorithm::HS256,
        secret: Some(secret.into()),
        jwks_url: None,
    };
    tenants::create_issuer(&Ctx::of(app, operator), &issuer).await?;
    Ok(())
}

impl KeyCommand {
    pub(super) async fn run(self, config: &Config) -> Result<ExitCode> {
        let app = shell::app(config)?;
        let Self::Create { tenant, name, scope, days } = self else { return reseal(&app).await };
        let operator = app.gate.operator_at_shell(Some(&tenant)).await?;
        let scopes = scope
            .iter()
            .map(|s| s.parse::<Scope>().with_context(|| format!("'{s}' is not a scope")))
            .collect::<Result<Vec<_>>>()?;
        let expires_at = days.map(|days| app.clock.now() + TimeDelta::days(i64::from(days)));
        let created = tenants::create_key(&Ctx::of(&app, &operator), &CreateKey { name, scopes, expires_at }).await?;
        print::line(&*created.secret)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Encrypts all secrets with the current master key. Reports the secrets that still need the previous key.
async fn reseal(app: &App) -> Result<ExitCode> {
    let UnderKeys { current, previous, neither, api_keys } = tenants::reseal(app).await?;
    print::line(format!("{previous} secrets were encrypted again, {current} already used the current master key"))?;
    if neither > 0 {
        print::line(format!(
            "{neither} secrets cannot be decrypted with either master key: set new ones for their issuers and webhooks"
        ))?;
    }
    print::line(format!(
        "{api_keys} API keys may still use the previous master key; each is converted when it is used"
    ))?;
    Ok(if neither > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
