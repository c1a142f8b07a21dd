//! Validates the settings of models, and converts them to the configuration of the models.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use knowhow_ops::models::embed::Networks;
use knowhow_ops::{ModelsSettings, RemoteSettings};

use super::Config;

/// Number of retries after a failed request.
const RETRIES: u32 = 2;

/// The settings of one model server. `name` is the part of the variables' names that identifies the server.
struct Server<'a> {
    name: &'a str,
    url: &'a str,
    key: &'a str,
    model: &'a str,
    timeout_ms: u64,
}

impl Config {
    /// Returns the configuration of all models in the settings.
    ///
    /// # Errors
    /// Fails for an invalid setting. The error names the setting and the expected value.
    pub fn models(&self) -> Result<ModelsSettings> {
        let embeddings = Server {
            name: "EMBEDDINGS",
            url: &self.embeddings_url,
            key: &self.embeddings_key,
            model: &self.embeddings_model,
            timeout_ms: self.embeddings_timeout_ms,
        };
        let embeddings = embeddings.settings()?;
        if embeddings.is_some() && self.embeddings_dimensions == 0 {
            bail!("set KNOWHOW_EMBEDDINGS_DIMENSIONS to the number of dimensions of that model's vectors, e.g. 1536");
        }
        let chat = Server {
            name: "CHAT",
            url: &self.chat_url,
            key: &self.chat_key,
            model: &self.chat_model,
            timeout_ms: self.chat_timeout_ms,
        };
        let half = std::thread::available_parallelism().map_or(1, |cores| cores.get().div_ceil(2));
        Ok(ModelsSettings {
            folder: (!self.model_dir.is_empty()).then(|| self.model_dir.clone().into()),
            networks: self.networks()?,
            threads: if self.embed_threads == 0 { half } else { self.embed_threads },
            embeddings: embeddings.map(|server| (server, self.embeddings_dimensions)),
            chat: chat.settings()?,
        })
    }
}

impl Config {
    /// Returns the networks of the model folder that are used.
    fn networks(&self) -> Result<Networks> {
        match self.model.as_str() {
            "default" => Ok(Networks::All),
            "minilm" => Ok(Networks::First),
            "every-language" => Ok(Networks::EveryLanguage),
            other => bail!("KNOWHOW_MODEL must be `default`, `minilm` or `every-language`, not {other:?}"),
        }
    }
}

impl Server<'_> {
    fn settings(&self) -> Result<Option<RemoteSettings>> {
        let Self { name, url, key, model, timeout_ms } = *self;
        if url.is_empty() {
            if !key.is_empty() || !model.is_empty() {
                bail!("set KNOWHOW_{name}_URL, or neither KNOWHOW_{name}_KEY nor KNOWHOW_{name}_MODEL");
            }
            return Ok(None);
        }
        let example = "the base of the server's API, e.g. https://api.example.com/v1";
        // The value may contain a password, so the error does not quote it.
        let url: url::Url = url.parse().with_context(|| format!("KNOWHOW_{name}_URL must be {example}"))?;
        if !matches!(url.scheme(), "http" | "https") {
            bail!("KNOWHOW_{name}_URL must begin with http:// or https://: {example}");
        }
        if !url.username().is_empty() || url.password().is_some() {
            bail!("KNOWHOW_{name}_URL must not contain a user or password: put the key in KNOWHOW_{name}_KEY");
        }
        if model.is_empty() {
            bail!("set KNOWHOW_{name}_MODEL to the name of the model at KNOWHOW_{name}_URL");
        }
        if timeout_ms == 0 {
            bail!("KNOWHOW_{name}_TIMEOUT_MS must be 1 or more");
        }
        let key = (!key.is_empty()).then(|| key.to_owned());
        let timeout = Duration::from_millis(timeout_ms);
        Ok(Some(RemoteSettings { url, key, model: model.to_owned(), timeout, retries: RETRIES }))
    }
}
