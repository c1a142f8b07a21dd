//! The command `knowhow token`.

use std::process::ExitCode;

use anyhow::{Context, Result};
use chrono::TimeDelta;
use clap::Args;
use knowhow_domain::{Clock, Scope, SystemClock};
use knowhow_ops::tenants::{self, MintToken};
use knowhow_ops::{App, Ctx};
use knowhow_store::vault::credential::{NewToken, mint_hs256};
use knowhow_store::{Gate, Principal};

use super::shell;
use crate::config::Config;
use knowhow_client::print;

/// Create a JWT
#[derive(Args)]
pub(super) struct Token {
    /// Slug of the tenant; optional for an operator
    #[arg(long)]
    tenant: Option<String>,
    /// External id of the user (`sub`)
    #[arg(long, default_value = "demo-user")]
    user: String,
    /// Scopes, separated by commas; by default those of a user
    #[arg(long, value_delimiter = ',', value_name = "SCOPE")]
    scope: Vec<String>,
    /// Roles, separated by commas
    #[arg(long, value_delimiter = ',', value_name = "ROLE", value_parser = ["user", "tenant_admin"])]
    role: Vec<String>,
    /// Create an operator token for the deployment, which can manage tenants
    #[arg(long, conflicts_with_all = ["scope", "role"])]
    operator: bool,
    /// Hours until the token expires
    #[arg(long, default_value_t = 24, value_parser = clap::value_parser!(u32).range(1..=8760))]
    hours: u32,
}

impl Token {
    pub(super) async fn run(self, config: &Config) -> Result<ExitCode> {
        let ttl = TimeDelta::hours(i64::from(self.hours));
        let token = if self.operator {
            operator_token(config, &self.user, self.tenant.as_deref(), ttl)?
        } else {
            let slug = self.tenant.context("name the tenant: --tenant SLUG")?;
            let app = shell::app(config)?;
            let principal = app.gate.operator_at_shell(Some(&slug)).await?;
            let scopes = self
                .scope
                .iter()
                .map(|s| s.parse::<Scope>().with_context(|| format!("'{s}' is not a scope")))
                .collect::<Result<Vec<_>>>()?;
            user_token(&app, &principal, MintToken { user: self.user, scopes, roles: self.role, ttl }).await?
        };
        print::line(token)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Creates a token for a user of the tenant. If no scopes and roles are given, the token gets the role `user`.
pub(super) async fn user_token(app: &App, principal: &Principal, mut token: MintToken) -> Result<String> {
    if token.scopes.is_empty() && token.roles.is_empty() {
        token.roles = vec!["user".to_owned()];
    }
    Ok(tenants::mint_token(&Ctx::of(app, principal), token).await?)
}

/// Creates a token signed as the deployment's own issuer.
pub(super) fn operator_token(config: &Config, name: &str, tenant: Option<&str>, ttl: TimeDelta) -> Result<String> {
    let operator = shell::operator(config, &config.secret()?);
    let token = NewToken {
        iss: operator.iss,
        aud: config.audience.clone(),
        sub: name.to_owned(),
        tid: tenant.unwrap_or(Gate::NO_TENANT).to_owned(),
        scope: Vec::new(),
        roles: vec!["operator".into()],
        ttl,
        now: SystemClock.now(),
    };
    Ok(mint_hs256(&operator.secret, &token)?)
}
