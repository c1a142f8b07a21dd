use super::decode_utf16;

#[test]
fn both_byte_orders_are_decoded_with_and_without_a_mark() {
    let text = "---\nname: caf\u{e9} \u{1f600}\n";
    let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    for bytes in [&[&[0xff, 0xfe], &little[..]].concat(), &[&[0xfe, 0xff], &big[..]].concat(), &little, &big] {
        assert_eq!(decode_utf16(bytes).as_deref(), Some(text));
    }
    for other in [&b"---\nname"[..], b"", b"\xff\xfea", b"\xff\xfe\x00\xd8", b"\x89PNG"] {
        assert_eq!(decode_utf16(other), None);
    }
}
