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

/// Values as bits, so that NaN compares.
fn bits(bytes: &[u8]) -> Vec<u64> {
    let rows = layout(Policy::Replace)
        .parse(bytes)
        .expect("nothing is refused");
    rows.values.iter().map(|x| x.to_bits()).collect()
}

#[test]
fn where_cells_are_replaced_a_line_is_a_record_whatever_quotes_it_holds() {
    let lines: [&[u8]; 8] = [
        b"1,x,2",
        b"\"1,x,2",
        b"1,\"x",
        b"y\",2",
        b"1,\"x, y\",2",
        b"1,\"a \"\"b\"\"\",2",
        b"\"",
        b"1,x\",2",
    ];
    let alone: Vec<Vec<u64>> = lines.iter().map(|line| bits(line)).collect();
    assert!(alone.iter().all(|row| row.len() == 2));
    // Each with each, in any order, is one after the other: no line changes what another one is.
    for (i, a) in lines.iter().enumerate() {
        for (j, b) in lines.iter().enumerate() {
            for end in [&b"\n"[..], b"\r\n", b"\r"] {
                let both = [alone[i].clone(), alone[j].clone()].concat();
                assert_eq!(bits(&[a, end, b, end].concat()), both, "{i}, {j}");
                assert_eq!(bits(&[a, end, b].concat()), both, "{i}, {j}");
            }
        }
    }
    // Quoted as the rules have it, and open.
    let number = |line: usize| f64::from_bits(alone[line][0]);
    assert!(number(4).to_bits() == 2.0_f64.to_bits() && number(5).to_bits() == 2.0_f64.to_bits());
    assert!([1, 2, 3, 6].iter().all(|&line| number(line).is_nan()));
}

#[test]
fn a_line_that_is_too_long_is_unknown_wherever_it_stands() {
    let mut long = b"1,".to_vec();
    long.extend(std::iter::repeat_n(b'x', MAX_RECORD));
    long.extend_from_slice(b",2\n3,x,4\n");
    let rows = bits(&long);
    assert!(rows[..2].iter().all(|&x| f64::from_bits(x).is_nan()));
    assert_eq!(rows[2..], [4.0_f64.to_bits(), 3.0_f64.to_bits()]);
}
