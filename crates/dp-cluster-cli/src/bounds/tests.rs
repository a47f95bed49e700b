use super::*;

#[test]
fn two_numbers_are_bounds_and_nothing_else_is() {
    assert_eq!(
        Bounds::parse("-1,2.5").expect("valid"),
        Bounds::Same([-1.0, 2.5])
    );
    assert_eq!(
        Bounds::parse("0, 1e3").expect("valid"),
        Bounds::Same([0.0, 1000.0])
    );
    for text in [
        "", "1", "1,2,3", "a,b", "1,", "2,1", "1,1", "nan,1", "0,inf", "1,2,x",
    ] {
        assert!(Bounds::parse(text).is_err(), "{text:?}");
    }
}

#[test]
fn a_file_may_name_more_columns_than_are_used() {
    let table =
        parse_table("[bounds]\na = [0, 10]\n\"b c\" = [-0.5, 0.5]\nd = [1, 2]\n").expect("valid");
    let bounds = Bounds::ByColumn {
        path: "f.toml".into(),
        table,
    };
    let chosen = bounds
        .of(&["b c".to_owned(), "a".to_owned()])
        .expect("both are there");
    assert_eq!(chosen, [[-0.5, 0.5], [0.0, 10.0]]);
    let error = bounds
        .of(&["e".to_owned()])
        .expect_err("not there")
        .to_string();
    assert!(error.contains("`e`") && error.contains("f.toml"), "{error}");
}

#[test]
fn a_file_of_another_form_is_refused_by_name() {
    for (text, word) in [
        ("a = [0, 1]", "[bounds]"),
        ("bounds = 3", "[bounds]"),
        ("[bounds]\nage = [0]", "`age`"),
        ("[bounds]\nage = [0, \"x\"]", "`age`"),
        ("[bounds]\nage = 4", "`age`"),
        ("[bounds\n", "TOML"),
    ] {
        let error = parse_table(text).expect_err("must be refused");
        assert!(error.contains(word), "{error:?} should say {word:?}");
    }
}
