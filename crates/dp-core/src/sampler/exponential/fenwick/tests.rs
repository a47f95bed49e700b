use super::*;
use proptest::prelude::*;

proptest! {
    #[test]
    fn shares_are_those_of_plain_sums(
        mut values in prop::collection::vec(prop_oneof![Just(0), 0..5_u64, any::<u64>()], 1..40),
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0..9_u64), 0..20),
    ) {
        let mut sums = Fenwick::new(&values);
        for (index, value) in changes {
            let index = index.index(values.len());
            sums.change(index, values[index], value);
            values[index] = value;
        }
        let total: u128 = values.iter().map(|&value| u128::from(value)).sum();
        prop_assert_eq!(sums.total(), total);
        // Both ends of each share.
        let mut before = 0;
        for (index, &value) in values.iter().enumerate() {
            if value > 0 {
                let last = u128::from(value) - 1;
                prop_assert_eq!(sums.find(before), (index, 0));
                prop_assert_eq!(sums.find(before + last), (index, last));
            }
            before += u128::from(value);
        }
    }
}
