use super::*;

#[test]
fn a_secret_is_read_and_never_printed() {
    let secret = Secret::from("5ec4e7");
    assert_eq!((&*secret, format!("{secret:?}")), ("5ec4e7", "\"***\"".to_owned()));
    assert_eq!(serde_json::to_string(&secret).unwrap(), "\"***\"");
    assert_eq!(serde_json::from_str::<Secret>("\"5ec4e7\"").unwrap(), secret);
    assert_eq!(serde_json::to_string(&Secret::default()).unwrap(), "\"\"");
}
