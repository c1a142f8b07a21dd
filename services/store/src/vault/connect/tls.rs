//! TLS for tokio-postgres. sqlx has its own implementation, which reads the same files.

use std::io;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use knowhow_domain::Result;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error as TlsError, RootCertStore, SignatureScheme,
};

use crate::vault::database_url::{ClientCertificate, Roots, SslMode, TlsSettings, Verification, unusable};

/// The authorities that the operating system trusts.
static SYSTEM: LazyLock<Vec<CertificateDer<'static>>> =
    LazyLock::new(|| rustls_native_certs::load_native_certs().certs);

/// Reads the TLS files once, so that mistakes in them are reported before a connection is opened.
///
/// # Errors
/// `Malformed` with the file's name and the reason.
pub(crate) fn check_files(tls: &TlsSettings) -> Result<()> {
    match tls.mode {
        SslMode::Disable => Ok(()),
        _ => client_config(tls).map(drop).map_err(unusable),
    }
}

/// Creates the TLS configuration of the client.
pub(super) fn client_config(tls: &TlsSettings) -> Result<ClientConfig, String> {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let authorities = match tls.verification {
        Verification::Nothing => None,
        _ => {
            let roots = Arc::new(roots(&tls.roots)?);
            let verifier = WebPkiServerVerifier::builder_with_provider(roots, provider.clone());
            Some(verifier.build().map_err(|error| error.to_string())?)
        }
    };
    let ignores_name = tls.verification != Verification::HostName;
    let verifier = Verifier { authorities, ignores_name, provider: provider.clone() };
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier));
    let Some(client) = &tls.client else { return Ok(config.with_no_client_auth()) };
    let (chain, key) = (read_certificates("sslcert", &client.certificate)?, read_key(&client.key)?);
    config.with_client_auth_cert(chain, key).map_err(|error| unfit(client, &error))
}

fn unfit(client: &ClientCertificate, error: &TlsError) -> String {
    let (certificate, key) = (client.certificate.display(), client.key.display());
    match error {
        TlsError::InconsistentKeys(_) => format!("sslkey {key} is not the key of sslcert {certificate}"),
        other => format!("sslcert {certificate} with sslkey {key}: {other}"),
    }
}

fn roots(of: &Roots) -> Result<RootCertStore, String> {
    let mut store = RootCertStore::empty();
    match of {
        Roots::System => {
            store.add_parsable_certificates(SYSTEM.iter().cloned());
            if store.is_empty() {
                return Err("the operating system trusts no authority: install ca-certificates, or add sslrootcert=/path/to/ca.crt".into());
            }
        }
        Roots::File(file) => {
            for certificate in read_certificates("sslrootcert", file)? {
                let wrong = |error| format!("sslrootcert {}: {error}", file.display());
                store.add(certificate).map_err(wrong)?;
            }
        }
    }
    Ok(store)
}

/// Returns the system's trusted authorities as PEM, for the other driver.
pub(super) fn system_roots_as_pem() -> Vec<u8> {
    let pem = |certificate: &CertificateDer<'_>| {
        format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", STANDARD.encode(certificate))
    };
    // Invalid certificates are left out; some systems have them in their store.
    let mut tried = RootCertStore::empty();
    SYSTEM
        .iter()
        .filter(|certificate| tried.add((*certificate).clone()).is_ok())
        .map(pem)
        .collect::<String>()
        .into_bytes()
}

fn read(parameter: &str, file: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(file).map_err(|error| {
        let advice = match error.kind() {
            io::ErrorKind::NotFound => "there is no such file",
            io::ErrorKind::PermissionDenied => "the user that runs this program may not read it",
            io::ErrorKind::IsADirectory => "it is a folder; name the file in it",
            _ => return format!("{parameter} {}: {error}", file.display()),
        };
        format!("{parameter} {}: {advice}", file.display())
    })
}

fn read_certificates(parameter: &str, file: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let pem = read(parameter, file)?;
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
    match certificates {
        Ok(certificates) if certificates.is_empty() => Err(format!(
            "{parameter} {}: it has no certificate in PEM form (-----BEGIN CERTIFICATE-----)",
            file.display()
        )),
        Ok(certificates) => Ok(certificates),
        Err(error) => Err(format!("{parameter} {}: {error}", file.display())),
    }
}

fn read_key(file: &Path) -> Result<PrivateKeyDer<'static>, String> {
    check_permissions(file)?;
    let pem = read("sslkey", file)?;
    let text = String::from_utf8_lossy(&pem);
    if text.contains("BEGIN ENCRYPTED PRIVATE KEY") || text.contains("Proc-Type: 4,ENCRYPTED") {
        return Err(format!(
            "sslkey {0}: it has a passphrase; write one without: openssl pkey -in {0} -out NEW_KEY",
            file.display()
        ));
    }
    PrivateKeyDer::from_pem_slice(&pem).map_err(|error| match error {
        rustls::pki_types::pem::Error::NoItemsFound => {
            format!("sslkey {}: it has no private key in PEM form (-----BEGIN PRIVATE KEY-----)", file.display())
        }
        other => format!("sslkey {}: {other}", file.display()),
    })
}

/// Rejects a key that other users of the machine can read, as libpq does: at most 0600, or 0640 if owned by root.
#[cfg(unix)]
fn check_permissions(file: &Path) -> Result<(), String> {
    use std::os::unix::fs::MetadataExt;

    let Ok(metadata) = std::fs::metadata(file) else { return Ok(()) };
    let forbidden = if metadata.uid() == 0 { 0o037 } else { 0o077 };
    match metadata.mode() & forbidden {
        0 => Ok(()),
        _ => Err(format!(
            "sslkey {0}: other users may read it ({1:04o}); run: chmod 600 {0} (in Kubernetes defaultMode: 0640)",
            file.display(),
            metadata.mode() & 0o7777
        )),
    }
}

#[cfg(not(unix))]
fn check_permissions(_: &Path) -> Result<(), String> {
    Ok(())
}

/// Verifies as much of the server's certificate as `sslmode` requires, and always the signature of the handshake.
#[derive(Debug)]
struct Verifier {
    authorities: Option<Arc<WebPkiServerVerifier>>,
    ignores_name: bool,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, TlsError> {
        let Some(authorities) = &self.authorities else { return Ok(ServerCertVerified::assertion()) };
        match authorities.verify_server_cert(end_entity, intermediates, name, ocsp, now) {
            // The name is compared last, so all other checks have passed.
            Err(TlsError::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if self.ignores_name => Ok(ServerCertVerified::assertion()),
            outcome => outcome,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        verify_tls12_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        verify_tls13_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
