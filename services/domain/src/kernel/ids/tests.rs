use super::*;

#[test]
fn an_id_is_written_as_the_bare_uuid() {
    let text = "0193e9c2-6b1f-7d3a-9f00-2b6d1c9e4a10";
    let id: SessionId = text.parse().unwrap();
    assert_eq!((id.to_string().as_str(), serde_json::to_string(&id).unwrap()), (text, format!("\"{text}\"")));
    assert_eq!(serde_json::from_str::<JobId>("4711").unwrap(), JobId(4711));
    assert!("plan".parse::<SkillId>().is_err());
}
