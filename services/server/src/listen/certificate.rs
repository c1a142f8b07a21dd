//! TLS for the listener. The certificate and its key are read again when their files change, so that a renewal needs no
//! restart and closes no connection.

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustls::ServerConfig;
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

/// Minimum interval between two checks of the files. A check happens only when a new connection is opened.
const LOOKS_EVERY: Duration = Duration::from_secs(1);

/// Paths of the certificate chain and its private key, in PEM.
#[derive(Debug, Clone)]
pub struct CertificateFiles {
    certificate: PathBuf,
    key: PathBuf,
}

impl CertificateFiles {
    /// Returns the paths; `None` if neither is set, which means plain HTTP.
    ///
    /// # Errors
    /// Fails if only one of them is set.
    pub fn of(certificate: &str, key: &str) -> Result<Option<Self>> {
        match (certificate.is_empty(), key.is_empty()) {
            (true, true) => Ok(None),
            (false, false) => Ok(Some(Self { certificate: certificate.into(), key: key.into() })),
            _ => bail!("set both KNOWHOW_TLS_CERTIFICATE_PATH and KNOWHOW_TLS_KEY_PATH, or neither"),
        }
    }

    fn read(&self) -> Result<Pem> {
        let read = |path: &PathBuf| fs::read(path).with_context(|| format!("cannot read {}", path.display()));
        Ok(Pem { certificate: read(&self.certificate)?, key: read(&self.key)? })
    }

    /// Returns a TLS configuration that uses the certificate and its later renewals.
    ///
    /// # Errors
    /// Fails if the files cannot be read, contain no certificate or key, or do not match.
    pub fn serve(self) -> Result<ServerConfig> {
        let pem = self.read()?;
        let current = pem.certified(&self)?;
        let renewed = RenewedCertificate {
            files: self,
            state: Mutex::new(CertificateState { current, pem, looked_at: Instant::now() }),
        };
        Ok(ServerConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(renewed)))
    }
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(aws_lc_rs::default_provider())
}

/// The content of the two files.
#[derive(PartialEq)]
struct Pem {
    certificate: Vec<u8>,
    key: Vec<u8>,
}

impl Pem {
    fn certified(&self, files: &CertificateFiles) -> Result<Arc<CertifiedKey>> {
        let (certificate, key) = (files.certificate.display(), files.key.display());
        let chain: Vec<_> = CertificateDer::pem_slice_iter(&self.certificate)
            .collect::<Result<_, _>>()
            .with_context(|| format!("{certificate} is not a certificate in PEM"))?;
        if chain.is_empty() {
            bail!("{certificate} has no certificate in PEM");
        }
        // The library's error is not shown, because it may quote a part of the key.
        let secret = PrivateKeyDer::from_pem_slice(&self.key);
        let secret = secret.map_err(|_| anyhow::anyhow!("{key} is not a private key in PEM without a password"))?;
        let certified = CertifiedKey::from_der(chain, secret, &provider())
            .with_context(|| format!("{key} is not the key of {certificate}, or has an unsupported type"))?;
        Ok(Arc::new(certified))
    }
}

/// The last usable certificate, and its files.
struct RenewedCertificate {
    files: CertificateFiles,
    state: Mutex<CertificateState>,
}

struct CertificateState {
    current: Arc<CertifiedKey>,
    pem: Pem,
    looked_at: Instant,
}

impl std::fmt::Debug for RenewedCertificate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Renewed").field(&self.files).finish()
    }
}

impl ResolvesServerCert for RenewedCertificate {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.looked_at.elapsed() >= LOOKS_EVERY {
            state.looked_at = Instant::now();
            self.look(&mut state);
        }
        Some(state.current.clone())
    }
}

impl RenewedCertificate {
    /// Reads the files, and uses their certificate if they changed. While only one of them was replaced, they do not
    /// match and the previous certificate stays in use.
    fn look(&self, state: &mut CertificateState) {
        let pem = match self.files.read() {
            Ok(pem) if pem == state.pem => return,
            Ok(pem) => pem,
            Err(error) => {
                return tracing::warn!(%error, "the certificate cannot be read: the previous one stays in use");
            }
        };
        match pem.certified(&self.files) {
            Ok(certified) => {
                state.current = certified;
                tracing::info!("the certificate was renewed");
            }
            Err(error) => tracing::warn!(%error, "the new certificate cannot be used: the previous one stays in use"),
        }
        // The content is stored even if it cannot be used, so that the warning is logged only once.
        state.pem = pem;
    }
}
