use actix_web::http::header::{HeaderName, HeaderValue};

use super::*;

fn client(trusted: &str, peer: &str, said: &[&str]) -> String {
    let mut headers = HeaderMap::new();
    for value in said {
        headers.append(HeaderName::from_static("x-forwarded-for"), HeaderValue::from_str(value).unwrap());
    }
    Proxies::parse(trusted).unwrap().client(peer.parse().unwrap(), &headers).to_string()
}

#[test]
fn the_client_is_the_last_address_that_is_not_a_trusted_proxy() {
    let ours = "10.0.0.0/8, fd00::/8,192.0.2.1";
    for (peer, said, expected) in [
        ("10.0.0.1", &["203.0.113.7"][..], "203.0.113.7"),
        ("::ffff:10.0.0.1", &["198.51.100.1,203.0.113.7 , 10.9.9.9"], "203.0.113.7"),
        ("fd00::5", &["198.51.100.1", "203.0.113.7:81", "192.0.2.1"], "203.0.113.7"),
        ("10.0.0.1", &["[2001:db8::1]:443"], "2001:db8::1"),
        ("10.0.0.1", &["[2001:db8::1]"], "2001:db8::1"),
        ("10.0.0.1", &["203.0.113.7, unknown, 10.0.0.2"], "10.0.0.2"),
        ("10.0.0.1", &["203.0.113.7,"], "10.0.0.1"),
        ("10.0.0.1", &["10.0.0.3, 10.0.0.2"], "10.0.0.3"),
        ("10.0.0.1", &[], "10.0.0.1"),
        ("192.0.2.2", &["203.0.113.7"], "192.0.2.2"),
    ] {
        assert_eq!(client(ours, peer, said), expected, "{peer} {said:?}");
    }
    assert_eq!(client("", "10.0.0.1", &["203.0.113.7"]), "10.0.0.1");
}

#[test]
fn invalid_proxy_networks_are_rejected_by_name() {
    for bad in ["10.0.0.0/33", "proxy.example", "10.0.0.1-10.0.0.9", "10.0.0.0/8;10.0.0.1"] {
        assert!(Proxies::parse(bad).unwrap_err().to_string().contains("KNOWHOW_TRUSTED_PROXIES"), "{bad}");
    }
    for all in ["0.0.0.0/0", "10.0.0.1, ::/0"] {
        assert!(Proxies::parse(all).unwrap_err().to_string().contains("matches every address"));
    }
}
