use proptest::prelude::*;
use proptest::strategy::Strategy as _;

use super::{Forms, PatchBudget, Rc, Strategy};

fn text() -> impl proptest::strategy::Strategy<Value = String> {
    let bits = ["a", "b  b", "é", "e\u{301}", " ", "\t", "\n", "\r\n", "\r", "—", "--", "“", "\u{200b}", "x\ny\n"];
    prop::collection::vec(prop::sample::select(bits.to_vec()), 0..12).prop_map(|bits| bits.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    /// Asserts that forms updated after an edit equal forms computed from the new text.
    #[test]
    fn what_follows_is_what_is_made_anew(head in text(), old in text(), new in text(), tail in text()) {
        let work = PatchBudget::for_bytes(0);
        let (before, after) = (format!("{head}{old}{tail}"), format!("{head}{new}{tail}"));
        let (mut forms, fresh) = (Forms::new(&before), Forms::new(&after));
        let keys = |forms: &Forms| -> Vec<Rc<str>> {
            let keyed = forms.keyed(&work);
            keyed.numbers.iter().map(|number| keyed.keys[*number].clone()).collect()
        };
        keys(&forms);
        forms.folded(Strategy::Whitespace, &work);
        forms.folded(Strategy::Unicode, &work);
        forms.follow(&after, &work);
        prop_assert_eq!(&forms.text, &after);
        prop_assert_eq!(keys(&forms), keys(&fresh));
        prop_assert_eq!(&forms.keyed(&work).lines, &fresh.keyed(&work).lines);
        for strategy in [Strategy::Whitespace, Strategy::Unicode] {
            prop_assert_eq!(forms.folded(strategy, &work), fresh.folded(strategy, &work));
        }
    }
}
