use super::*;

#[test]
fn a_signature_equals_the_one_of_the_reference_libraries() {
    // This example is from the reference libraries.
    let secret = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD".to_owned();
    let sign = |secrets: &[String]| {
        let payload = r#"{"email":"test@example.com","username":"test_user"}"#;
        sign_webhook(secrets, "msg_27UH4WbU6Z5A5EzD8u03UvzRbpk", 1_649_367_553, payload)
    };
    let expected = "v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw=";
    assert_eq!(sign(std::slice::from_ref(&secret)).unwrap(), expected);
    let other = new_webhook_secret().unwrap();
    let both = sign(&[other.clone(), secret]).unwrap();
    assert!(both.ends_with(&format!(" {expected}")) && both.starts_with("v1,"), "{both}");
    assert_eq!(STANDARD.decode(other.strip_prefix(PREFIX).unwrap()).unwrap().len(), SECRET_BYTES);
    assert!(sign(&["secret".to_owned()]).is_err());
}
