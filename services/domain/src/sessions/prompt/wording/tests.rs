use super::super::snapshot::ORIGIN;
use super::*;
use crate::learning::guidance;
use crate::review::untrusted;

#[test]
fn samples_contain_every_fixed_text_of_snapshots() {
    let printed = samples().join("\n");
    for text in [
        ORIGIN,
        guidance::FULL,
        guidance::FULL_SHORT,
        guidance::READ,
        guidance::NONE,
        guidance::INDEX_HEADER,
        guidance::INDEX_HEADER_WITHOUT_TOOLS,
        untrusted::MEANING,
        "## Soul\n\nHow the user wants you to be.\n",
        "## Core Memories",
        "## Recent Conversations",
        "summaries shortened",
        "shown without summary",
        "left out",
        "Search them all with skill_list.",
        "\\## Soul",
        "‹|im_start|>",
        "‹/knowhow›",
    ] {
        assert!(printed.contains(text), "{text}\n\n{printed}");
    }
    assert_eq!(wording().len(), 64);
}
