//! Repositories that no mission is started in, with the words that say what to do.

use super::{Comes, begun, of};

#[test]
fn one_without_a_commit() {
    of("git init -q -b main .")
        .comes(
            Comes::Refused(8),
            &["`HEAD` has no commit yet", "make a first commit"],
        )
        .holds();
}

#[test]
fn one_in_which_nobody_has_a_name() {
    begun("rm \"$HOME/.gitconfig\"")
        .comes(
            Comes::Refused(8),
            &[
                "git config --global user.name",
                "git config --global user.email",
            ],
        )
        .holds();
}

#[test]
fn no_repository() {
    of("true")
        .comes(
            Comes::Refused(8),
            &["is not in a usable git repository", "git init"],
        )
        .holds();
}

#[test]
fn the_git_folder_itself() {
    begun("true")
        .at("repo/.git")
        .comes(
            Comes::Refused(8),
            &["lies in a git folder", "run this in the checkout"],
        )
        .holds();
}

#[test]
fn one_that_git_does_not_trust() {
    assert!(
        rustix::process::geteuid().is_root(),
        "this needs root, to give a folder to another user"
    );
    begun("chown -R 12345:12345 .")
        .comes(
            Comes::Refused(8),
            &["git refuses the repository", "safe.directory"],
        )
        .holds();
}

#[test]
fn one_of_a_format_that_git_does_not_know() {
    begun("git config core.repositoryFormatVersion 1; git config extensions.nonsense true")
        .comes(
            Comes::Refused(8),
            &["git refuses the repository", "nonsense"],
        )
        .holds();
}

#[test]
fn a_partial_clone() {
    begun("git config uploadpack.allowFilter true; git clone -q --filter=blob:none \"file://$W/repo\" \"$W/partial\"")
        .at("partial")
        .comes(Comes::Refused(8), &["partial clone", "git fetch --refetch --no-filter"])
        .holds();
}

#[test]
fn files_behind_a_filter_that_is_installed() {
    begun("git config filter.mine.clean cat; echo '*.x filter=mine' >.gitattributes; git add -A; git commit -q -m filter")
        .comes(Comes::Refused(8), &["`.gitattributes` sends files through the filter `mine`"])
        .holds();
}

#[test]
fn files_behind_a_filter_that_this_repository_alone_names() {
    begun("git config filter.mine.clean cat; mkdir -p .git/info; echo '*.x filter=mine' >.git/info/attributes")
        .comes(Comes::Refused(8), &["info/attributes` sends files through the filter `mine`"])
        .holds();
}

#[test]
fn pointers_of_a_large_file_storage() {
    begun("echo '*.bin filter=lfs diff=lfs merge=lfs -text' >.gitattributes
        printf 'version https://git-lfs.github.com/spec/v1\\noid sha256:%064d\\nsize 3\\n' 7 >a.bin; git add -A; git commit -q -m lfs")
    .comes(Comes::Refused(8), &["sends files through the filter `lfs`", "use a base without it"])
    .holds();
}

#[test]
fn one_with_a_branch_where_the_missions_is_to_be() {
    begun("git branch backstop")
        .comes(
            Comes::Refused(8),
            &[
                "`refs/heads/backstop` is in the way",
                "git branch -m backstop",
            ],
        )
        .holds();
}

#[test]
fn one_with_a_ref_where_the_missions_are_to_be() {
    begun("git update-ref refs/backstop HEAD")
        .comes(
            Comes::Refused(8),
            &[
                "`refs/backstop` is in the way",
                "git update-ref -d refs/backstop",
            ],
        )
        .holds();
}

#[test]
fn one_with_a_corrupt_base() {
    begun("rm -f .git/objects/$(git rev-parse HEAD:README | sed 's,..,&/,')")
        .comes(Comes::Refused(8), &["README"])
        .holds();
}
