//! TLS of the listener. The certificate and its key are files, and are read again when they change, so that one that is renewed
//! needs no restart and breaks no connection.

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

/// Between two looks at the files, which only new connections cause.
const LOOKS_EVERY: Duration = Duration::from_secs(1);

/// Where the certificate, with those that vouch for it, and its key are, in PEM.
#[derive(Debug, Clone)]
pub struct Files {
    certificate: PathBuf,
    key: PathBuf,
}

impl Files {
    /// `None` where neither is set: plain HTTP.
    ///
    /// # Errors
    /// Where one is set without the other.
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

    /// What answers connections with the certificate.
    ///
    /// # Errors
    /// Where the files cannot be read, hold no certificate or no key, or the key is another certificate's.
    pub fn serve(self) -> Result<ServerConfig> {
        let pem = self.read()?;
        let current = pem.certified(&self)?;
        let renewed = Renewed { files: self, state: Mutex::new(State { current, pem, looked_at: Instant::now() }) };
        Ok(ServerConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(renewed)))
    }
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(aws_lc_rs::default_provider())
}

/// What the files held.
#[derive(PartialEq)]
struct Pem {
    certificate: Vec<u8>,
    key: Vec<u8>,
}

impl Pem {
    fn certified(&self, files: &Files) -> Result<Arc<CertifiedKey>> {
        let (certificate, key) = (files.certificate.display(), files.key.display());
        let chain: Vec<_> = CertificateDer::pem_slice_iter(&self.certificate)
            .collect::<Result<_, _>>()
            .with_context(|| format!("{certificate} is no certificate in PEM"))?;
        if chain.is_empty() {
            bail!("{certificate} has no certificate in PEM");
        }
        // What the library says of a key that it cannot read may hold a part of it.
        let secret = PrivateKeyDer::from_pem_slice(&self.key);
        let secret = secret.map_err(|_| anyhow::anyhow!("{key} is no private key in PEM without a password"))?;
        let certified = CertifiedKey::from_der(chain, secret, &provider())
            .with_context(|| format!("{key} is not the key of {certificate}, or of a kind that is not known"))?;
        Ok(Arc::new(certified))
    }
}

/// The certificate as the files had it last, whole.
struct Renewed {
    files: Files,
    state: Mutex<State>,
}

struct State {
    current: Arc<CertifiedKey>,
    pem: Pem,
    looked_at: Instant,
}

impl std::fmt::Debug for Renewed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Renewed").field(&self.files).finish()
    }
}

impl ResolvesServerCert for Renewed {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.looked_at.elapsed() >= LOOKS_EVERY {
            state.looked_at = Instant::now();
            self.look(&mut state);
        }
        Some(state.current.clone())
    }
}

impl Renewed {
    /// Takes what the files hold by now. Half of a pair, as while both are being replaced, is left until the other half is there.
    fn look(&self, state: &mut State) {
        let pem = match self.files.read() {
            Ok(pem) if pem == state.pem => return,
            Ok(pem) => pem,
            Err(error) => return tracing::warn!(%error, "the certificate cannot be read: the one before stays"),
        };
        match pem.certified(&self.files) {
            Ok(certified) => {
                state.current = certified;
                tracing::info!("the certificate was renewed");
            }
            Err(error) => tracing::warn!(%error, "the new certificate cannot be used: the one before stays"),
        }
        // Also where it cannot be used, so that it is told once.
        state.pem = pem;
    }
}
