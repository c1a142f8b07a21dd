use actix_web::http::header::{HeaderName, HeaderValue};

use super::*;

fn site(edit: impl FnOnce(&mut Config)) -> Site {
    let mut config = Config::default();
    edit(&mut config);
    Site::of(&config).unwrap()
}

fn admits(site: &Site, headers: &[(HeaderName, &str)]) -> bool {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.append(name.clone(), HeaderValue::from_str(value).unwrap());
    }
    site.refusal(&map).is_none()
}

#[test]
fn the_resource_uri_is_below_the_public_url() {
    assert_eq!(site(|_| ()).resource(), "http://127.0.0.1:8080/mcp");
    let behind = site(|c| c.public_url = "https://api.example.com/knowhow/".into());
    assert_eq!(behind.resource(), "https://api.example.com/knowhow/mcp");
    assert!(
        behind.challenge(None, "x").ends_with(
            "resource_metadata=\"https://api.example.com/knowhow/.well-known/oauth-protected-resource/mcp\""
        )
    );
}

#[test]
fn only_configured_hosts_are_allowed() {
    let site = site(|c| {
        c.public_url = "https://api.example.com".into();
        c.allowed_hosts = "mcp.internal, other.example:8443".into();
    });
    for host in
        ["api.example.com", "API.example.com:443", "localhost:1", "[::1]:2", "mcp.internal:9", "other.example:8443"]
    {
        assert!(admits(&site, &[(HOST, host)]), "{host}");
    }
    for host in
        ["evil.example", "api.example.com.evil.example", "other.example:80", "a@localhost", "localhost:x", "", " "]
    {
        assert!(!admits(&site, &[(HOST, host)]), "{host}");
    }
    assert!(!admits(&site, &[]));
    assert!(!admits(&site, &[(HOST, "localhost"), (HOST, "localhost")]));
}

#[test]
fn only_own_and_configured_origins_are_allowed() {
    let local = site(|_| ());
    let from = |site: &Site, origin: &str| admits(site, &[(HOST, "localhost"), (ORIGIN, origin)]);
    for origin in ["http://127.0.0.1:8080", "http://localhost:8080", "http://[::1]:8080"] {
        assert!(from(&local, origin), "{origin}");
    }
    for origin in ["http://localhost:8081", "https://localhost:8080", "http://localhost", "null", "", "x"] {
        assert!(!from(&local, origin), "{origin}");
    }
    let public = site(|c| {
        c.public_url = "https://api.example.com".into();
        c.allowed_origins = "https://app.example.com,http://dev.example:3000".into();
    });
    for origin in ["https://api.example.com", "https://app.example.com:443", "http://dev.example:3000"] {
        assert!(from(&public, origin), "{origin}");
    }
    for origin in ["http://localhost:8080", "http://app.example.com", "https://app.example.com.evil.example"] {
        assert!(!from(&public, origin), "{origin}");
    }
}

#[test]
fn errors_name_the_invalid_setting() {
    let refused = |edit: fn(&mut Config)| {
        let mut config = Config::default();
        edit(&mut config);
        Site::of(&config).err().unwrap().to_string()
    };
    assert!(refused(|c| c.public_url = "api.example.com".into()).contains("KNOWHOW_PUBLIC_URL"));
    assert!(refused(|c| c.public_url = "ftp://api.example.com".into()).contains("KNOWHOW_PUBLIC_URL"));
    assert!(refused(|c| c.allowed_hosts = "https://x".into()).contains("KNOWHOW_ALLOWED_HOSTS"));
    assert!(refused(|c| c.allowed_origins = "x".into()).contains("KNOWHOW_ALLOWED_ORIGINS"));
    assert!(refused(|c| c.authorization_servers = "x".into()).contains("KNOWHOW_AUTHORIZATION_SERVERS"));
}
