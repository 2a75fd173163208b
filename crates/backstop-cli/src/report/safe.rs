//! What a page shows from outside, as text that is no markup.

use std::fmt::{self, Write as _};
use std::path::Path;

use backstop_runner::view::Report;

/// Text that can hold no markup.
pub(super) struct Safe<T>(pub(super) T);

impl<T: fmt::Display> fmt::Display for Safe<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in backstop_runner::words::shown(&self.0.to_string()).chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

/// A file of a mission, by its place in the mission's folder; the whole path is its title.
pub(super) struct File<'a> {
    folder: &'a Path,
    path: &'a Path,
}

impl<'a> File<'a> {
    pub(super) fn of(report: &'a Report, path: &'a Path) -> Self {
        let folder = report.journal.parent().unwrap_or(Path::new(""));
        Self { folder, path }
    }
}

impl fmt::Display for File<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { folder, path } = self;
        let place = path.strip_prefix(folder).unwrap_or(path);
        write!(
            f,
            "<code class=\"path\" title=\"{}\">{}</code>",
            Safe(path.display()),
            Safe(place.display())
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_and_control_characters_are_text() {
        let said = Safe("<script>alert('x')</script> & \"\u{1b}[31m").to_string();
        assert_eq!(
            said,
            "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt; &amp; &quot;\u{fffd}[31m"
        );
    }

    #[test]
    fn a_file_is_named_by_its_place_in_the_missions_folder() {
        let folder = Path::new("/state/m");
        let shown = |path: &str| {
            let path = Path::new(path);
            File { folder, path }.to_string()
        };
        assert_eq!(
            shown("/state/m/blobs/<1>"),
            "<code class=\"path\" title=\"/state/m/blobs/&lt;1&gt;\">blobs/&lt;1&gt;</code>"
        );
        assert_eq!(
            shown("/elsewhere"),
            "<code class=\"path\" title=\"/elsewhere\">/elsewhere</code>"
        );
    }
}
