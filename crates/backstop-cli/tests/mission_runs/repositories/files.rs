//! What files are called and what they hold.

use super::{Comes, begun};
use backstop_engine::GateKind;

#[test]
fn names_that_are_hard_to_write_down() {
    begun("printf 'old\\n' >\"$(printf 'o\\nld\\377')\"; printf 'x' >'-rf'; git add -A; git commit -q -m odd")
        .agent("printf 'new\\n' >\"$(printf 'n\\new\\t\"\\\\\\377')\"; printf 'new\\n' >--option; printf 'new\\n' >' '; printf 'c\\n' >:colon; printf 's\\n' >'*[a]?'; git add -A; git commit -q -m new
            printf 'late\\n' >\"$(printf 'la\\nte\\376')\"; printf 'changed\\n' >\"$(printf 'o\\nld\\377')\"; rm -- -rf; printf 'q\\n' >'a\"b'")
        .ships(&[
            (" ", "100644 new\n"), ("*[a]?", "100644 s\n"), ("--option", "100644 new\n"), ("-rf", "gone"), (":colon", "100644 c\n"),
            ("a\"b", "100644 q\n"), ("la\\nte\\xfe", "100644 late\n"), ("n\\new\\t\"\\\\\\xff", "100644 new\n"), ("o\\nld\\xff", "100644 changed\n"),
        ])
        .holds();
}

#[test]
fn a_name_of_255_bytes_and_a_very_deep_path() {
    let world = begun("")
        .agent("name=$(printf '%0255d' 7); printf 'long\\n' >$name; deep=$(printf 'folder-%03d/' $(seq 150)); mkdir -p \"$deep\"; printf 'deep\\n' >\"${deep}end\"")
        .comes(Comes::Holds(GateKind::Ship), &[])
        .holds();
    let tree = world.mission().lane().head.tree;
    let listed = world.git(&["ls-tree", "-r", "--name-only", &tree.digits()]);
    let lengths: Vec<usize> = listed.lines().map(str::len).collect();
    assert_eq!(lengths, [255, 6, 150 * 11 + 3]);
}

#[test]
fn names_that_differ_by_case_alone() {
    begun("printf 'one\\n' >Same; printf 'two\\n' >same; printf 'old\\n' >Old; git add -A; git commit -q -m case")
        .agent("git mv Old old; git commit -q -m case; printf 'ONE\\n' >Same; printf 'three\\n' >SAME")
        .ships(&[("Old", "gone"), ("SAME", "100644 three\n"), ("Same", "100644 ONE\n"), ("old", "100644 old\n")])
        .holds();
}

#[test]
fn names_that_are_one_where_accents_are_composed() {
    begun("printf 'nfc\\n' >\"$(printf '\\303\\251')\"; git add -A; git commit -q -m nfc")
        .agent("printf 'nfd\\n' >\"$(printf 'e\\314\\201')\"")
        .ships(&[("e\u{301}", "100644 nfd\n")])
        .holds();
}

#[test]
fn links_to_nowhere_and_to_outside() {
    begun("ln -s nowhere dangling; ln -s /etc absolute; ln -s ../.. out; ln -s . loop; git add -A; git commit -q -m links")
        .agent("ln -sfn elsewhere dangling; ln -s /etc/passwd secret; ln -s ../../../journal.jsonl up; rm out; mkdir out; printf 'in\\n' >out/in; ln -s README loop2; git add loop2; git commit -q -m loop2")
        .ships(&[
            ("dangling", "120000 elsewhere"), ("loop2", "120000 README"), ("out", "gone"), ("out/in", "100644 in\n"),
            ("secret", "120000 /etc/passwd"), ("up", "120000 ../../../journal.jsonl"),
        ])
        .holds();
}

#[test]
fn executable_bits_and_empty_files() {
    begun("printf 'x\\n' >tool; chmod +x tool; : >empty; printf 'y\\n' >plain; git add -A; git commit -q -m bits")
        .agent("chmod -x tool; chmod +x plain; : >void; mkdir hollow; chmod 600 README; printf 'e\\n' >empty")
        .ships(&[("empty", "100644 e\n"), ("plain", "100755 y\n"), ("tool", "100644 x\n"), ("void", "100644 ")])
        .holds();
}

#[test]
fn line_ends_that_git_converts_and_would_rather_refuse() {
    begun("git config core.autocrlf true; printf 'a\\r\\nb\\r\\n' >text; git add text; git commit -q -m text; git config core.safecrlf true")
        .agent("grep -q \"$(printf 'b\\r')\" text; printf 'a\\r\\nb\\r\\nc\\r\\n' >text; printf 'lf\\n' >lf; printf 'mixed\\r\\nends\\n' >mixed; printf '\\0\\r\\n' >binary")
        .ships(&[("binary", "100644 \0\r\n"), ("lf", "100644 lf\n"), ("mixed", "100644 mixed\nends\n"), ("text", "100644 a\nb\nc\n")])
        .holds();
}

#[test]
fn line_ends_that_git_converts_on_the_way_in() {
    begun("git config --global core.autocrlf input; git config --global core.safecrlf true; git config --global core.eol crlf; printf 'a\\nb\\n' >text; git add -A; git commit -q -m text")
        .agent("printf 'a\\r\\nb\\r\\n' >text; printf 'new\\r\\n' >new")
        .ships(&[("new", "100644 new\n")])
        .holds();
}

#[test]
fn attributes_that_change_what_files_look_like() {
    begun("printf '*.crlf text eol=crlf\\n*.id ident\\n*.u16 text working-tree-encoding=UTF-16LE eol=lf\\nversion export-subst\\n*.no -text\\n' >.gitattributes
        printf 'a\\r\\n' >a.crlf; printf '$Id$\\n' >a.id; printf 'u\\0\\n\\0' >a.u16; printf '$Format:%%H$\\n' >version; printf 'raw\\r\\n' >raw.no; git add -A; git commit -q -m attributes")
        .agent("grep -q 'Id: ' a.id; printf 'b\\r\\n' >b.crlf; printf '$Id: 0123456789012345678901234567890123456789 $\\nmore\\n' >a.id; printf 'v\\0\\n\\0' >b.u16; printf 'raw\\r\\nraw\\n' >raw.no; printf 'bare\\n' >c.crlf; printf 'plain\\n' >>version")
        .ships(&[
            ("a.id", "100644 $Id$\nmore\n"), ("b.crlf", "100644 b\n"), ("b.u16", "100644 v\n"), ("c.crlf", "100644 bare\n"),
            ("raw.no", "100644 raw\r\nraw\n"), ("version", "100644 $Format:%H$\nplain\n"),
        ])
        .holds();
}

#[test]
fn attributes_that_this_repository_alone_has() {
    begun("mkdir -p .git/info; printf '*.t text eol=crlf\\n' >.git/info/attributes; printf 'a\\n' >a.t; git add -A; git commit -q -m text")
        .agent("grep -q \"$(printf 'a\\r')\" a.t; printf 'b\\r\\n' >b.t")
        .ships(&[("b.t", "100644 b\n")])
        .holds();
}

#[test]
fn files_that_are_renormalised_whatever_the_base_has() {
    begun("printf 'crlf\\r\\n' >old.t; printf 'x\\r\\n' >same.t; git add -A; git commit -q -m crlf; printf '*.t text\\n' >.gitattributes; git add .gitattributes; git commit -q -m text")
        .agent("printf 'crlf\\r\\nmore\\r\\n' >old.t")
        .comes(Comes::Holds(GateKind::Ship), &[])
        .holds();
}

#[test]
fn a_file_that_its_encoding_does_not_allow_is_held_with_its_name() {
    begun("printf '*.u16 text working-tree-encoding=UTF-16LE\\n' >.gitattributes; git add -A; git commit -q -m attributes")
        .agent("printf 'odd' >bad.u16; printf 'kept\\n' >kept")
        .comes(Comes::Holds(GateKind::Review), &["failed to encode 'bad.u16'", "backstop gate retry"])
        .holds();
}

#[test]
fn an_attribute_of_the_agents_that_asks_for_a_filter_of_the_users() {
    // The agent's git stores a pointer and its `.git` the content: what ships must have the content.
    begun("mkdir \"$W/bin\"; printf '#!/bin/sh\\nmkdir -p .git/lfs; cat >.git/lfs/content; echo pointer\\n' >\"$W/bin/clean\"; chmod +x \"$W/bin/clean\"; git config --global filter.lfs.clean \"$W/bin/clean\"")
        .agent("printf '*.bin filter=lfs -text\\n' >.gitattributes; printf 'large\\n' >a.bin; git add -A; git commit -q -m large; git show HEAD:a.bin | grep -q pointer")
        .ships(&[(".gitattributes", "100644 *.bin filter=lfs -text\n"), ("a.bin", "100644 large\n")])
        .unmerged()
        .holds();
}

#[test]
fn ignored_files_stay_out() {
    begun("printf 'target/\\n' >.gitignore; printf 'private\\n' >.git/info/exclude; printf '*.swp\\n' >\"$HOME/ignore\"; git config --global core.excludesFile \"~/ignore\"; git add -A; git commit -q -m ignore")
        .agent("mkdir target; echo x >target/x; echo x >private; echo x >a.swp; git check-ignore -q private; printf 'left\\n' >left.txt")
        .ships(&[("left.txt", "100644 left\n")])
        .holds();
}
