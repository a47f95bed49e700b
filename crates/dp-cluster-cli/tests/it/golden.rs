//! Texts that people read, kept as files. After a change on purpose: `DP_CLUSTER_BLESS=1 cargo test -p dp-cluster-cli`.

use crate::{Place, repository};

#[track_caller]
fn golden(name: &str, line: &str) {
    let run = Place::new().run(line);
    run.succeeds();
    let path = repository().join("tests/golden").join(name);
    #[expect(clippy::disallowed_methods, reason = "the one switch of these tests")]
    let bless = std::env::var("DP_CLUSTER_BLESS").is_ok();
    if bless {
        std::fs::write(&path, &run.stdout).expect("written");
    }
    let kept = std::fs::read_to_string(&path).expect("the file is part of the repository");
    assert_eq!(
        run.stdout,
        kept,
        "`{line}` says something else than {}",
        path.display()
    );
}

#[test]
fn help_says_what_it_said() {
    golden("help.txt", "--help");
    golden("help-fit.txt", "fit --help");
    golden("help-plan.txt", "plan --help");
    golden("help-evaluate.txt", "evaluate --help");
    golden("help-predict.txt", "predict --help");
    golden("help-inspect.txt", "inspect --help");
    golden("help-generate.txt", "generate --help");
}

#[test]
fn algorithms_are_described_as_they_were() {
    golden("algorithms.txt", "algorithms");
}

#[test]
fn a_plan_shows_the_ledger_as_it_did() {
    let line = "plan --clusters 5 --epsilon 1 --delta 1e-6 --n-hint 10000 --columns age,hours --bounds=0,100";
    golden("plan-dplloyd.txt", &format!("{line} --algorithm dplloyd"));
    golden(
        "plan-dplloyd-paper.txt",
        &format!("{line} --algorithm dplloyd-paper --relation replace-one"),
    );
}
