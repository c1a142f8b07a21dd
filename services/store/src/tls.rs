//! TLS of the pipeline, from the same URL parameters that the pool for writes reads (libpq's `sslmode` and
//! `sslrootcert`), of which tokio-postgres knows only some.

use std::sync::Arc;

use knowhow_domain::{Error, Result};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use tokio_postgres::config::SslMode;
use url::Url;

/// What the URL says of TLS, and the URL without it.
pub(crate) struct Settings {
    pub(crate) url: String,
    pub(crate) mode: SslMode,
    root_certificate: Option<String>,
}

impl Settings {
    /// Where TLS is required, the server's certificate is always verified against the roots.
    pub(crate) fn take_from(url: &str) -> Result<Self> {
        let unusable = |why: String| Error::Malformed(format!("the database URL is not usable: {why}"));
        let mut parsed = Url::parse(url).map_err(|e| unusable(e.to_string()))?;
        let (mut mode, mut root_certificate, mut rest) = (SslMode::Prefer, None, Vec::new());
        for (key, value) in parsed.query_pairs() {
            match (key.as_ref(), value.as_ref()) {
                ("sslmode", "disable") => mode = SslMode::Disable,
                ("sslmode", "allow" | "prefer") => mode = SslMode::Prefer,
                ("sslmode", "require" | "verify-ca" | "verify-full") => mode = SslMode::Require,
                ("sslmode", other) => return Err(unusable(format!("sslmode={other} is not known"))),
                ("sslrootcert", file) => root_certificate = Some(file.to_owned()),
                _ => rest.push((key.into_owned(), value.into_owned())),
            }
        }
        parsed.set_query(None);
        if !rest.is_empty() {
            parsed.query_pairs_mut().extend_pairs(rest);
        }
        Ok(Self { url: parsed.into(), mode, root_certificate })
    }

    /// A client that trusts the given root certificate, or the system's.
    pub(crate) fn client(&self) -> Result<rustls::ClientConfig> {
        let mut roots = rustls::RootCertStore::empty();
        match &self.root_certificate {
            Some(file) => {
                let unusable = |e: &dyn std::fmt::Display| Error::Malformed(format!("sslrootcert {file}: {e}"));
                for certificate in CertificateDer::pem_file_iter(file).map_err(|e| unusable(&e))? {
                    roots.add(certificate.map_err(|e| unusable(&e))?).map_err(|e| unusable(&e))?;
                }
            }
            None => drop(roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs)),
        }
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        Ok(rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(Error::internal)?
            .with_root_certificates(roots)
            .with_no_client_auth())
    }
}

#[cfg(test)]
mod tests;
