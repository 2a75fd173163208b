//! Configuration, hooks and signing of the operator, who also works by hand in the same repository.

use super::begun;

/// Settings that a mission must not feel, in the repository or for the user.
const SETTINGS: &str = r#"
set_all() {
    git config $1 protocol.file.allow never
    git config $1 protocol.allow never
    git config $1 url.https://nowhere.invalid/.insteadOf "$W"
    git config $1 push.default nothing
    git config $1 receive.denyCurrentBranch refuse
    git config $1 transfer.hideRefs refs/backstop
    git config $1 uploadpack.hideRefs refs
    git config $1 uploadpack.packObjectsHook "$W/side/packs"
    git config $1 gc.auto 1
    git config $1 gc.pruneExpire now
    git config $1 maintenance.auto true
    git config $1 core.pager false
    git config $1 core.editor false
    git config $1 core.askPass false
    git config $1 core.sshCommand false
    git config $1 diff.external false
    git config $1 diff.noprefix true
    git config $1 diff.renames copies
    git config $1 diff.ignoreSubmodules none
    git config $1 diff.algorithm histogram
    git config $1 color.ui always
    git config $1 column.ui always
    git config $1 core.quotePath true
    git config $1 core.abbrev 4
    git config $1 core.logAllRefUpdates always
    git config $1 core.compression 0
    git config $1 core.bigFileThreshold 1
    git config $1 core.precomposeUnicode true
    git config $1 core.protectNTFS true
    git config $1 core.sharedRepository group
    git config $1 commit.template "$W/nowhere"
    git config $1 commit.cleanup scissors
    git config $1 commit.verbose true
    git config $1 user.useConfigOnly true
    git config $1 submodule.recurse true
    git config $1 status.showUntrackedFiles no
    git config $1 status.relativePaths false
    git config $1 log.showSignature true
    git config $1 log.showRoot false
    git config $1 i18n.commitEncoding ISO-8859-1
    git config $1 i18n.logOutputEncoding ISO-8859-1
    git config $1 merge.conflictStyle diff3
    git config $1 merge.renormalize true
    git config $1 merge.directoryRenames conflict
    git config $1 feature.manyFiles true
    git config $1 feature.experimental true
    git config $1 index.skipHash true
    git config $1 fetch.fsckObjects true
    git config $1 fetch.prune true
    git config $1 rerere.enabled true
    git config $1 pack.packSizeLimit 1m
    git config $1 repack.writeBitmaps true
    git config $1 alias.rev-list '!false'
    git config $1 init.templateDir "$W/template"
    git config $1 init.defaultRefFormat reftable
    git config $1 init.defaultObjectFormat sha256
    git config $1 safe.bareRepository explicit
    git config $1 trace2.eventTarget "$W/side/trace"
    git config $1 include.path "$W/included"
}
mkdir "$W/template"; hooks "$W/template/hooks" 'exit 1'
printf '[core]\n\thooksPath = %s\n' "$W/template/hooks" >"$W/included"
"#;

#[test]
fn settings_of_the_repository() {
    begun(&[SETTINGS, "set_all --local"].concat()).holds();
}

#[test]
fn settings_of_the_user() {
    begun(&[SETTINGS, "set_all --global"].concat()).holds();
}

#[test]
fn settings_of_the_user_and_a_merge() {
    begun(&["git checkout -q --detach\n", SETTINGS, "set_all --global"].concat())
        .args(&["--ship", "merge", "--base", "main"])
        .holds();
}

#[test]
fn a_file_system_that_is_less_than_it_is() {
    begun("git config core.fileMode false; git config core.symlinks false; git config core.ignoreCase true; git config core.trustctime false; git config core.checkStat minimal")
        .agent("printf 'made\\n' >made.txt; chmod +x made.txt; ln -s made.txt link; printf 'other\\n' >MADE.txt")
        .ships(&[("MADE.txt", "100644 other\n"), ("link", "120000 made.txt"), ("made.txt", "100755 made\n")])
        .holds();
}

#[test]
fn hooks_that_reject_everything() {
    begun("hooks .git/hooks 'exit 1'")
        .says(&["hooks in `", "do not run in a mission"])
        .holds();
}

#[test]
fn hooks_that_reject_everything_and_a_merge() {
    begun("git checkout -q --detach; hooks .git/hooks 'exit 1'")
        .args(&["--ship", "merge", "--base", "main"])
        .holds();
}

#[test]
fn hooks_that_change_files_in_a_folder_of_the_project() {
    begun("mkdir .husky; hooks .husky/_ 'echo formatted >>README; git add README'; echo '*' >.husky/_/.gitignore; git config core.hooksPath .husky/_")
        .says(&["hooks in `.husky/_` do not run in a mission"])
        .holds();
}

#[test]
fn hooks_that_the_agent_installs() {
    // As a package manager does on `install`: they are the agent's own, in its own checkout.
    begun("")
        .agent("mkdir .husky; printf '#!/bin/sh\\necho formatted >>made.txt; git add made.txt\\n' >.husky/pre-commit; chmod +x .husky/pre-commit; git config core.hooksPath .husky
            printf 'made\\n' >made.txt; git add made.txt; git commit -q -m made; printf 'left\\n' >left.txt")
        .ships(&[(".husky/pre-commit", "100755 #!/bin/sh\necho formatted >>made.txt; git add made.txt\n"), ("left.txt", "100644 left\n"), ("made.txt", "100644 made\nformatted\n")])
        .holds();
}

#[test]
fn signing_that_is_required_with_a_key_that_is_missing() {
    begun("for scope in --local --global; do git config $scope commit.gpgSign true; git config $scope tag.gpgSign true; git config $scope tag.forceSignAnnotated true
        git config $scope gpg.format ssh; git config $scope user.signingKey \"$W/nowhere\"; git config $scope push.gpgSign true; git config $scope merge.verifySignatures true; done")
    .agent("printf 'made\\n' >made.txt; git add made.txt; git commit -q -m made; git tag -a -m one v1; git checkout -q -b side HEAD~1; printf 'left\\n' >left.txt; git add left.txt; git commit -q -m left; git merge -q -m both v1")
    .holds();
}

#[test]
fn a_user_whose_hooks_and_monitor_are_set_for_every_repository() {
    begun("hooks \"$W/hooks\" 'exit 1'; git config --global core.hooksPath \"$W/hooks\"; git config --global core.fsmonitor \"$W/hooks/fsmonitor-watchman\"").holds();
}
