use super::*;

fn read(text: &str) -> Result<Message<'_>, i32> {
    Message::read(text.as_bytes()).map_err(|(code, _)| code)
}

fn message(members: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":1,{members}}}")
}

fn call(name: &str) -> String {
    message(&format!("\"method\":\"tools/call\",\"params\":{{\"name\":{name}}}"))
}

#[test]
fn a_message_must_be_one_json_rpc_object() {
    for text in ["", " ", "{", "{}x", "\u{feff}{}", "nul", "{\"jsonrpc\":\"\\ud800\"}"] {
        assert_eq!(read(text).err(), Some(PARSE_ERROR), "{text}");
    }
    for text in ["[]", "7", "null", "\"ping\"", "{}", "{\"jsonrpc\":\"2.0\"}", "{\"method\":\"ping\"}"] {
        assert_eq!(read(text).err(), Some(INVALID_REQUEST), "{text}");
    }
    for id in ["true", "{}", "[1]", "1.5", "1e3", "99999999999999999999"] {
        let text = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}");
        assert_eq!(read(&text).err(), Some(INVALID_REQUEST), "{text}");
    }
    for text in [message("\"method\":\"ping\""), message("\"result\":{}"), message("\"error\":{},\"more\":[1]")] {
        assert!(read(&text).is_ok_and(|message| message.id().is_some_and(|id| id.get() == "1")), "{text}");
    }
}

#[test]
fn repeated_members_are_rejected() {
    for members in [
        "\"method\":\"ping\",\"method\":\"tools/call\"",
        "\"method\":\"ping\",\"m\\u0065thod\":\"tools/call\"",
        "\"id\":2,\"method\":\"ping\"",
        "\"method\":\"ping\",\"params\":{},\"params\":{}",
        "\"method\":\"tools/call\",\"params\":{\"name\":\"a\",\"name\":\"b\"}",
        "\"method\":\"tools/call\",\"params\":{\"name\":\"a\",\"n\\u0061me\":\"b\"}",
        "\"method\":\"tools/call\",\"params\":{\"_meta\":{},\"_meta\":{}}",
        "\"method\":\"ping\",\"params\":{\"_meta\":{\"dev.knowhow/session\":\"a\",\"dev.knowhow\\/session\":\"b\"}}",
    ] {
        assert_eq!(read(&message(members)).err(), Some(INVALID_REQUEST), "{members}");
    }
}

#[test]
fn the_called_tool_or_method_determines_the_scope() {
    let scope = |text: &str| read(text).ok().and_then(|message| message.scope());
    for (name, expected) in [
        ("\"skill_view\"", Some(Scope::SkillsRead)),
        ("\"skill\\u005fsave\"", Some(Scope::SkillsWrite)),
        ("\"skill_delete\"", Some(Scope::SkillsWrite)),
        ("\"soul_update\"", Some(Scope::Memories)),
        ("\"none\"", None),
        ("[\"skill_save\"]", None),
        ("null", None),
    ] {
        assert_eq!(scope(&call(name)), expected, "{name}");
    }
    for (method, expected) in [
        ("skills/list", Some(Scope::SkillsRead)),
        ("resources/none", Some(Scope::SkillsRead)),
        ("tools/list", None),
        ("ping", None),
    ] {
        assert_eq!(scope(&message(&format!("\"method\":\"{method}\""))), expected, "{method}");
    }
    let prompt = |name: &str| message(&format!("\"method\":\"prompts/get\",\"params\":{{\"name\":\"{name}\"}}"));
    assert_eq!(scope(&prompt("skills-index")), Some(Scope::SkillsRead));
    assert_eq!(scope(&prompt("frozen-context")), Some(Scope::Sessions));
    assert_eq!(scope(&prompt("skills-guidance")), None);
}

#[test]
fn labels_never_contain_text_of_the_client() {
    let label = |text: &str| read(text).ok().map(|message| message.label());
    assert_eq!(label(&call("\"skill_view\"")), Some("skill_view"));
    assert_eq!(label(&call("\"secret\"")), Some("tools/call"));
    assert_eq!(label(&message("\"method\":\"skills/get\"")), Some("skills/get"));
    assert_eq!(label(&message("\"method\":\"secret\"")), Some("other"));
    assert_eq!(label(&message("\"result\":{}")), Some("response"));
}

#[test]
fn a_session_that_is_not_a_string_is_invalid() {
    for (meta, session) in [
        ("{\"dev.knowhow/session\":\"chat-1\",\"traceparent\":7}", Some("chat-1")),
        ("{\"dev.knowhow/session\":7}", Some("")),
        ("{\"dev.knowhow/session\":[\"chat-1\"]}", Some("")),
        ("{\"dev.knowhow/session\":\"\\ud800\"}", Some("")),
        ("{\"dev.knowhow/session\":null}", None),
        ("{\"knowhow/session\":\"chat-1\"}", None),
        ("[null,\"chat-1\"]", None),
        ("\"chat-1\"", None),
    ] {
        let text = message(&format!("\"method\":\"tools/call\",\"params\":{{\"_meta\":{meta}}}"));
        assert_eq!(read(&text).map(|m| m.session().map(str::to_owned)), Ok(session.map(str::to_owned)), "{meta}");
    }
}

#[test]
fn tainted_by_accepts_one_source_or_a_list() {
    for (meta, sources) in [
        ("{\"dev.knowhow/tainted_by\":\"a page\"}", Some(vec!["a page"])),
        ("{\"dev.knowhow/tainted_by\":[\"a\",\"b\"]}", Some(vec!["a", "b"])),
        ("{\"dev.knowhow/tainted_by\":[]}", Some(vec![])),
        ("{\"dev.knowhow/tainted_by\":null}", Some(vec![])),
        ("{}", Some(vec![])),
        ("{\"dev.knowhow/tainted_by\":true}", None),
        ("{\"dev.knowhow/tainted_by\":[\"a\",7]}", None),
        ("{\"dev.knowhow/tainted_by\":{\"a\":\"b\"}}", None),
    ] {
        let text = message(&format!("\"method\":\"tools/call\",\"params\":{{\"_meta\":{meta}}}"));
        let sources = sources.map(|sources| sources.into_iter().map(str::to_owned).collect());
        assert_eq!(read(&text).map(|m| m.tainted_by()), Ok(sources), "{meta}");
    }
}

#[test]
fn trace_and_cursor_are_read_only_if_they_are_strings() {
    let of = |params: &str| message(&format!("\"method\":\"tools/list\",\"params\":{params}"));
    for (params, trace) in [
        ("{\"_meta\":{\"traceparent\":\"00-x\",\"more\":[1]}}", Some("00-x")),
        ("{\"_meta\":{\"traceparent\":7}}", None),
        ("{\"_meta\":[]}", None),
        ("{}", None),
        ("7", None),
    ] {
        let text = of(params);
        assert_eq!(read(&text).ok().and_then(|message| message.traceparent().map(str::to_owned)).as_deref(), trace);
    }
    for (params, is_odd) in [
        ("{\"cursor\":7}", true),
        ("{\"cursor\":{}}", true),
        ("{\"cursor\":\"x\"}", false),
        ("{\"cursor\":null}", false),
        ("{}", false),
    ] {
        assert_eq!(read(&of(params)).map(|message| message.unfit().is_some()).ok(), Some(is_odd), "{params}");
    }
}
