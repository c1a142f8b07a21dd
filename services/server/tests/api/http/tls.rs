//! Requests over TLS, and a certificate that is renewed while the service runs.

use std::path::PathBuf;

use reqwest::Client;

use crate::raw;
use crate::service::{Service, knowhow, poll_async, scratch};
use crate::support::certificate::Pair;

/// Files from which a service reads its certificate and key.
struct Files {
    certificate: PathBuf,
    key: PathBuf,
}

impl Files {
    fn with(pair: &Pair) -> Self {
        let files = Self { certificate: scratch("tls.crt"), key: scratch("tls.key") };
        std::fs::write(&files.certificate, &pair.certificate).unwrap();
        std::fs::write(&files.key, &pair.key).unwrap();
        files
    }

    fn settings(&self) -> [(&str, &str); 2] {
        [
            ("KNOWHOW_TLS_CERTIFICATE_PATH", self.certificate.to_str().unwrap()),
            ("KNOWHOW_TLS_KEY_PATH", self.key.to_str().unwrap()),
        ]
    }
}

async fn answers(client: &Client, service: &Service) -> bool {
    let answer = client.get(format!("https://{}/readyz", service.address)).send().await;
    answer.is_ok_and(|answer| answer.status() == 200)
}

#[tokio::test]
async fn a_renewed_certificate_is_served_without_a_restart() {
    let (first, second) = (Pair::new(), Pair::new());
    let files = Files::with(&first);
    let service = Service::listen(&files.settings());
    let (old, new) = (first.client(), second.client());
    poll_async("the service to be ready", async || answers(&old, &service).await.then_some(())).await;
    assert!(!answers(&new, &service).await, "a certificate that it does not have");
    assert!(raw::try_get(&service.address, "/readyz").is_none(), "nobody is answered in plain text");

    // A new certificate without its key is not used, because the two files are replaced one after the other.
    std::fs::write(&files.certificate, &second.certificate).unwrap();
    poll_async("the half to be seen", async || {
        assert!(answers(&old, &service).await, "the one before stays");
        service.log().contains("the new certificate cannot be used").then_some(())
    })
    .await;
    std::fs::write(&files.key, &second.key).unwrap();
    poll_async("the new one", async || answers(&new, &service).await.then_some(())).await;
    // Uses a new client, because the old one resumes its session and is shown no certificate.
    assert!(!answers(&first.client(), &service).await);

    // Files that are missing for a moment break no connection.
    std::fs::remove_file(&files.key).unwrap();
    poll_async("the loss to be seen", async || {
        assert!(answers(&new, &service).await);
        service.log().contains("the certificate cannot be read").then_some(())
    })
    .await;
    assert!(!service.log().contains("PRIVATE KEY"));
    service.check_log();
}

#[test]
fn an_invalid_pair_of_certificate_and_key_is_refused_at_the_start() {
    let (one, other) = (Pair::new(), Pair::new());
    let good = Files::with(&one);
    let [certificate, key] = good.settings();
    let mixed = Files::with(&Pair { certificate: one.certificate.clone(), key: other.key });
    let empty = Files::with(&Pair { certificate: String::new(), key: one.key });
    let missing = (key.0, "/nowhere/tls.key");
    for (settings, said) in [
        (vec![certificate], "or neither"),
        (vec![certificate, missing], "/nowhere/tls.key"),
        (mixed.settings().to_vec(), "is not the key of"),
        (empty.settings().to_vec(), "has no certificate"),
    ] {
        let refused = knowhow(&["serve"]).envs(settings.iter().copied()).output().unwrap();
        let told = String::from_utf8_lossy(&refused.stderr);
        assert!(!refused.status.success() && told.contains(said), "{said}: {told}");
    }
}
