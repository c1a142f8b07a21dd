use super::super::rules::Rules;
use super::*;

#[test]
fn hosts_are_classified() {
    let hosts = &Rules::get().hosts;
    for (text, kind) in [
        ("https://api.github.com/x", HostKind::Known),
        ("https://evil-github.com/x", HostKind::Unknown),
        ("http://91.92.242.30/x", HostKind::Address),
        ("http://1532817950/x", HostKind::Address),
        ("http://0x5b5cf21e/x", HostKind::Address),
        ("http://[2a01:4f8::1]:80/x", HostKind::Address),
        ("/dev/tcp/54.91.154.110/13338", HostKind::Address),
        ("http://10.0.0.8:8080", HostKind::Local),
        ("http://localhost:3000", HostKind::Local),
        ("https://$HOST/x", HostKind::Local),
        ("https://{region}.host.com/x", HostKind::Local),
        ("postgres://user:pw@db.host.io/x", HostKind::Unknown),
        ("https://github.com@evil.io/x", HostKind::Deceptive),
        ("https://xn--pypl-loa.com/x", HostKind::Deceptive),
        ("https://abc.ngrok.io/x", HostKind::Drop),
        ("https://discord.com/api/webhooks/1/a", HostKind::Drop),
        ("https://discord.com/channels/1", HostKind::Known),
        ("https://example.com/install.sh", HostKind::Known),
        ("https://collect.example.com/x", HostKind::Unknown),
        ("someone@evil.io", HostKind::Mail),
        ("evil.io/x.sh", HostKind::Unknown),
    ] {
        assert_eq!(hosts.kinds_in(text).next(), Some(kind), "{text}");
    }
}
