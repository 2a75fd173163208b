//! Relative links in Markdown lead to files of the repository, anchors to headings, and names of code to where they are; the
//! list of a folder of documents leads to each of them.
//!
//! Deliberately absent: the network. An address elsewhere is not looked at.

use std::collections::BTreeMap;

use crate::failure::Fault;
use crate::repo::{File, Repo};

/// Links that lead nowhere.
pub(super) fn faults(repo: &Repo) -> Vec<Fault> {
    let pages = repo.files.iter().filter(|file| file.ends("md"));
    let dead = pages.flat_map(|page| page_faults(repo, page));
    dead.chain(unlisted(repo)).collect()
}

/// Documents that the list of their folder, its `README.md`, does not lead to.
fn unlisted(repo: &Repo) -> Vec<Fault> {
    let is_list =
        |file: &&File| file.path.starts_with("docs/") && file.path.ends_with("/README.md");
    let mut faults = Vec::new();
    for list in repo.files.iter().filter(is_list) {
        let targets = prose(&list.text)
            .into_iter()
            .flat_map(|(_, line)| targets(line));
        let listed: Vec<_> = targets
            .filter_map(|target| place(&list.path, &target))
            .collect();
        let folder = list.path.trim_end_matches("README.md");
        let beside = |page: &&File| {
            let name = page.path.strip_prefix(folder);
            name.is_some_and(|name| page.ends("md") && !name.contains('/'))
        };
        let pages = repo.files.iter().filter(beside).map(|page| &page.path);
        let strays = pages.filter(|page| **page != list.path && !listed.contains(page));
        let said = format!(
            "is not in the list of its folder: add it to `{}`",
            list.path
        );
        faults.extend(strays.map(|page| Fault::of(page, said.clone())));
    }
    faults
}

fn page_faults(repo: &Repo, page: &File) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (number, line) in prose(&page.text) {
        for target in targets(&without_code(line)) {
            let said = dead(repo, page, &target);
            faults.extend(said.map(|said| Fault::at(&page.path, number, said)));
        }
        let strays = code_links(line).filter_map(|(name, target)| stray(repo, page, name, target));
        faults.extend(strays.map(|said| Fault::at(&page.path, number, said)));
    }
    faults
}

/// Why a target leads nowhere; none when it leads somewhere, or out of the repository's sight.
fn dead(repo: &Repo, page: &File, target: &str) -> Option<String> {
    if target.is_empty() || target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let Some(place) = place(&page.path, path) else {
        return Some(format!("`{target}` leaves the repository: link inside it"));
    };
    let below = format!("{place}/");
    let is_folder = place.is_empty() || repo.paths.iter().any(|known| known.starts_with(&below));
    if !is_folder && !repo.paths.contains(&place) {
        return Some(format!("`{target}` leads to no file: mend the link"));
    }
    let page = repo.file(&place).filter(|file| file.ends("md"))?;
    let is_there = anchor.is_empty() || anchors(&page.text).iter().any(|known| known == anchor);
    (!is_there).then(|| format!("`{target}` leads to no heading: mend the anchor"))
}

/// The links of a line whose text is code: the code, and where it leads.
fn code_links(line: &str) -> impl Iterator<Item = (&str, &str)> {
    line.split("[`").skip(1).filter_map(|rest| {
        let (code, rest) = rest.split_once("`](")?;
        let (target, _) = rest.split_once(')')?;
        Some((code, target))
    })
}

/// Why a name of code is not where its link leads: a reader would look for it in vain.
fn stray(repo: &Repo, page: &File, code: &str, target: &str) -> Option<String> {
    let file = repo.file(&place(&page.path, target)?)?;
    let name = code.rsplit("::").next()?.trim_end_matches("()");
    let is_name = name.chars().all(|c| c.is_alphanumeric() || c == '_');
    // A module is where a file of its name is.
    let is_module = file.path.ends_with(&format!("/{name}.rs"));
    let words = file.text.split(|c: char| !c.is_alphanumeric() && c != '_');
    if !file.ends("rs") || !is_name || is_module || words.into_iter().any(|word| word == name) {
        return None;
    }
    Some(format!(
        "`{code}` is not in `{}`: mend the name or the link",
        file.path
    ))
}

/// Where a link on that page leads; none outside the repository.
fn place(page: &str, path: &str) -> Option<String> {
    if path.is_empty() {
        return Some(page.to_owned());
    }
    let mut pieces: Vec<&str> = page.split('/').collect();
    pieces.pop();
    for piece in path.split('/') {
        match piece {
            "" | "." => {}
            ".." => drop(pieces.pop()?),
            name => pieces.push(name),
        }
    }
    (!path.starts_with('/')).then(|| pieces.join("/"))
}

/// The lines outside fenced blocks, with their numbers.
fn prose(text: &str) -> Vec<(usize, &str)> {
    let mut fence: Option<&str> = None;
    let mut lines = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let mark = ["```", "~~~"]
            .into_iter()
            .find(|mark| line.trim_start().starts_with(mark));
        match (fence, mark) {
            (None, None) => lines.push((number, line)),
            (None, Some(_)) => fence = mark,
            (Some(open), Some(close)) if open == close => fence = None,
            (Some(_), _) => {}
        }
    }
    lines
}

/// A line without what stands in backticks.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect()
}

/// The targets of a line: `[text](target)`, `[text](<target> "title")` and `[name]: target`.
fn targets(line: &str) -> Vec<String> {
    let inline = line
        .match_indices("](")
        .filter_map(|(at, mark)| line.get(at + mark.len()..));
    let mut found: Vec<String> = inline.map(|rest| first(closed(rest))).collect();
    let trimmed = line.trim_start();
    if let Some((_, rest)) = trimmed
        .split_once("]: ")
        .filter(|_| trimmed.starts_with('['))
    {
        found.push(first(rest));
    }
    found
}

/// The text before the bracket that closes the link.
fn closed(rest: &str) -> &str {
    let mut depth = 0_usize;
    for (at, c) in rest.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return rest.get(..at).unwrap_or(rest),
            ')' => depth -= 1,
            _ => {}
        }
    }
    rest
}

fn first(target: &str) -> String {
    let word = target.split_whitespace().next().unwrap_or("");
    word.trim_start_matches('<')
        .trim_end_matches('>')
        .to_owned()
}

/// The anchors of a page: its headings, and places named by hand.
fn anchors(text: &str) -> Vec<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut found = Vec::new();
    for (_, line) in prose(text) {
        found.extend(
            line.split("id=\"")
                .skip(1)
                .filter_map(|rest| Some(rest.split_once('"')?.0.to_owned())),
        );
        let heading = line.trim_start_matches('#');
        if heading.len() == line.len() || !heading.starts_with(' ') {
            continue;
        }
        let slug = slug(heading.trim());
        let times = seen.entry(slug.clone()).or_default();
        found.push(if *times == 0 {
            slug
        } else {
            format!("{slug}-{times}")
        });
        *times += 1;
    }
    found
}

/// As code hosts make it: lower case, spaces to dashes, other marks dropped.
fn slug(heading: &str) -> String {
    let kept = heading
        .chars()
        .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.flat_map(char::to_lowercase)
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Vec<String> {
        let other = "# Other\n## Same `x`, twice!\n## Same x twice\n";
        let repo = Repo::of(&[
            ("docs/a.md", text),
            ("docs/b.md", other),
            ("src/c.rs", "fn charged() {}"),
        ]);
        faults(&repo).iter().map(Fault::to_string).collect()
    }

    #[test]
    fn links_to_files_folders_and_headings_are_fine() {
        let text = "# Top\n[a](b.md) ![i](../src/c.rs \"t\") [c](../src/) [d](#top) [e](<b.md#other>)\n\
            [f](b.md#same-x-twice) [g](b.md#same-x-twice-1) [h](../) [i](https://example.org/x)\n[j]: ./b.md\n";
        assert_eq!(said(text), [""; 0]);
    }

    #[test]
    fn links_that_lead_nowhere_are_refused() {
        let text =
            "[a](c.md) [b](b.md#none) [c](#none)\n[d](../../e.md)\n[e](/docs/b.md)\n[f]: gone.md\n";
        let wanted = [
            "docs/a.md:1: `c.md` leads to no file: mend the link",
            "docs/a.md:1: `b.md#none` leads to no heading: mend the anchor",
            "docs/a.md:1: `#none` leads to no heading: mend the anchor",
            "docs/a.md:2: `../../e.md` leaves the repository: link inside it",
            "docs/a.md:3: `/docs/b.md` leaves the repository: link inside it",
            "docs/a.md:4: `gone.md` leads to no file: mend the link",
        ];
        assert_eq!(said(text), wanted);
    }

    #[test]
    fn a_name_of_code_is_where_its_link_leads() {
        let text = "[`charged`](../src/c.rs) [`M::charged()`](../src/c.rs) [`c`](../src/c.rs) [`a b`](../src/c.rs)\n\
            [`harged`](../src/c.rs) [`x`](b.md)\n";
        assert_eq!(
            said(text),
            ["docs/a.md:2: `harged` is not in `src/c.rs`: mend the name or the link"]
        );
    }

    #[test]
    fn a_document_is_in_the_list_of_its_folder() {
        let repo = Repo::of(&[
            ("docs/d/README.md", "[one](1.md)\n"),
            ("docs/d/1.md", "# One\n"),
            ("docs/d/2.md", "# Two\n"),
            ("docs/d/e/3.md", "# Three\n"),
            ("docs/other.md", "# Other\n"),
        ]);
        let said: Vec<String> = faults(&repo).iter().map(Fault::to_string).collect();
        let wanted = "docs/d/2.md: is not in the list of its folder: add it to `docs/d/README.md`";
        assert_eq!(said, [wanted]);
    }

    #[test]
    fn code_holds_no_links() {
        assert_eq!(
            said("`[a](gone.md)`\n```text\n[b](gone.md)\n```\n~~~\n```\n[c](gone.md)\n~~~\n"),
            [""; 0]
        );
    }
}
