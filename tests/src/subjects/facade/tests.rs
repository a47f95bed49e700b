use super::*;

fn facts(name: &str) -> Facts {
    algorithm::find(name).expect("an algorithm").facts()
}

#[test]
fn an_option_without_a_setting_is_missed() {
    let problem = check_options(&facts("dplloyd"), &[setting(1, 2, 1.0, None).iterations(2)]);
    assert_eq!(
        problem,
        Err("`schedule` of `dplloyd` has no setting in the audit".to_owned())
    );
    // What is elsewhere must not be here as well, and `elsewhere` names options that there are.
    let mut all = ktuple();
    all.push(setting(1, 2, 1.0, None).with("blocks of 4", |options| options.block_size = Some(4)));
    assert!(check_options(&facts("ktuple"), &all).is_err());
    for (name, option, reason) in ELSEWHERE {
        assert!(facts(name).options.contains(&option) && !reason.is_empty());
    }
}
