use super::*;

fn layout(policy: Policy) -> Layout {
    Layout {
        width: 3,
        chosen: vec![2, 0],
        class: None,
        policy,
    }
}

#[test]
fn chosen_columns_come_in_their_order_and_others_are_never_parsed() {
    let rows = layout(Policy::Refuse)
        .parse(b"1,\"some, text\nover lines\",3\r\n4,,6\n\n")
        .expect("valid");
    assert_eq!(rows.values, [3.0, 1.0, 6.0, 4.0]);
}

#[test]
fn the_first_fault_is_named_by_line_and_column() {
    let refuse = |bytes: &[u8]| {
        layout(Policy::Refuse)
            .parse(bytes)
            .expect_err("must be refused")
    };
    let at = |line, fault| BadRow { line, fault };
    assert_eq!(refuse(b"1,x,2\n1,x,two\n"), at(2, Fault::NotANumber(2)));
    assert_eq!(refuse(b"1,x,2\n,x,2\n"), at(2, Fault::Missing(0)));
    assert_eq!(refuse(b"1,x\n"), at(1, Fault::Short(2)));
    assert_eq!(refuse(b"1,x,2,3\n"), at(1, Fault::Long));
    assert_eq!(refuse(b"1,x,1e999\n"), at(1, Fault::NotANumber(2)));
}

#[test]
fn replacing_keeps_one_row_per_row() {
    let rows = layout(Policy::Replace)
        .parse(b"1,x,two\n1\n1,2,3,4\n\xff,\xfe,7\n")
        .expect("nothing is refused");
    assert_eq!(rows.values.len(), 8);
    assert!(rows.values[0].is_nan());
    assert!((rows.values[1] - 1.0).abs() < f64::EPSILON);
    assert!(rows.values[2..6].iter().all(|x| x.is_nan()));
    assert!((rows.values[6] - 7.0).abs() < f64::EPSILON);
}
