use super::*;

fn checked(url: &str, private_network: bool) -> bool {
    Url::parse(url).is_ok_and(|url| check_url(&url, private_network).is_ok())
}

#[test]
fn public_addresses_are_allowed() {
    for ip in ["1.1.1.1", "8.8.8.8", "100.128.0.1", "172.32.0.1", "192.1.0.1", "2606:4700::1111", "2a00::1"] {
        assert!(is_public(ip.parse().unwrap()), "{ip}");
    }
}

#[test]
fn special_purpose_addresses_are_rejected() {
    for ip in [
        "0.0.0.0",
        "10.1.2.3",
        "100.64.0.1",
        "100.127.255.255",
        "127.0.0.1",
        "127.255.0.9",
        "169.254.169.254",
        "172.16.0.1",
        "172.31.255.255",
        "192.0.0.170",
        "192.0.2.1",
        "192.88.99.1",
        "192.168.0.1",
        "198.18.0.1",
        "198.19.255.255",
        "198.51.100.7",
        "203.0.113.7",
        "224.0.0.1",
        "239.1.1.1",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::127.0.0.1",
        "::8.8.8.8",
        "::ffff:127.0.0.1",
        "::ffff:8.8.8.8",
        "64:ff9b::7f00:1",
        "64:ff9b::808:808",
        "64:ff9b:1::1",
        "100::1",
        "2001::1",
        "2001:2::1",
        "2001:20::1",
        "2001:db8::1",
        "2002:7f00:1::",
        "2002:808:808::",
        "3fff::1",
        "5f00::1",
        "fc00::1",
        "fd12::1",
        "fe80::1",
        "fec0::1",
        "ff02::1",
    ] {
        assert!(!is_public(ip.parse().unwrap()), "{ip}");
    }
}

#[test]
fn tenant_urls_must_be_https_on_public_hosts() {
    assert!(checked("https://id.example.com/jwks", false));
    assert!(checked("https://id.example.com:8443/jwks?x=1", false));
    assert!(checked("https://8.8.8.8/jwks", false));
    for url in [
        "http://id.example.com/jwks",
        "ftp://id.example.com/",
        "file:///etc/passwd",
        "data:text/plain,x",
        "https://u@id.example.com/",
        "https://u:p@id.example.com/",
        "https://:p@id.example.com/",
        "https://id.example.com:22/",
        "https://id.example.com:80/",
        "https://localhost/",
        "https://LOCALHOST./",
        "https://a.localhost/",
        "https://metadata.google.internal/",
        "https://printer.local/",
        "https://db/",
        "https://127.0.0.1/",
        "https://127.1/",
        "https://2130706433/",
        "https://0x7f000001/",
        "https://0177.0.0.1/",
        "https://[::1]/",
        "https://[::ffff:10.0.0.1]/",
        "https://[fd00::1]/",
        "https://169.254.169.254/latest",
        "https://\u{ff11}\u{ff12}\u{ff17}.0.0.1/",
    ] {
        assert!(!checked(url, false), "{url}");
    }
    assert!(!checked(&format!("https://id.example.com/{}", "a".repeat(2048)), false));
}

#[test]
fn a_url_that_the_parser_would_correct_is_rejected() {
    for url in [
        r"https://idp.example\@127.0.0.1/",
        r"https:\\idp.example.com/keys",
        r"https://idp.example.com\keys",
        " https://idp.example.com/keys",
        "https://idp.example.com/ke\nys",
        "https:/idp.example.com/keys",
        "https://idp.example.com/{keys}",
    ] {
        let refused = read_url(url, false).unwrap_err();
        assert!(refused.starts_with("must be"), "{url}: {refused}");
    }
    let url = read_url("https://ID.example.com:443/keys?x=%20", false).unwrap();
    assert_eq!(url.as_str(), "https://id.example.com/keys?x=%20");
}

#[test]
fn deployment_urls_may_be_private() {
    assert!(checked("http://keycloak:8080/certs", true));
    assert!(checked("http://127.0.0.1:1/certs", true));
    assert!(!checked("http://u:p@keycloak/certs", true));
    assert!(!checked("file:///etc/passwd", true));
}

#[tokio::test]
async fn names_that_resolve_to_private_addresses_are_refused() {
    assert!(PublicOnly.resolve("localhost".parse().unwrap()).await.is_err());
}
