//! What counts as an answer of each role: the end of every prompt, and no part of what an operator may write anew.

use backstop_engine::vocab::PhaseKind;
use backstop_engine::{Role, Ruling};

const ALONE: &str =
    "Nobody watches this run. Do not ask for permission; work in the present folder only.";

/// An object that the schema of a verdict allows.
const EXAMPLE: &str = r#"{"verdict": "FAIL", "reason": "the total is wrong", "findings": [{"summary": "it leaves out the tax", "path": "src/total.rs"}, "nothing tests it"]}"#;

/// The contract for the answer of a role in a phase of this kind.
pub(super) fn contract(role: Role, kind: PhaseKind) -> String {
    let words = match role {
        Role::Reviewer | Role::Verifier => verdict(),
        Role::Scout => "Change nothing. End with your findings as your final message; it is handed to the next role, \
             and a blank one counts as a failure."
            .into(),
        Role::Planner => "Change nothing. End with the outline as your final message; it is handed to the implementer, \
             and a blank one counts as a failure."
            .into(),
        Role::ReleaseLead => "Change nothing. End with the notes as your final message; a person reads them before the \
             work is handed over."
            .into(),
        Role::Implementer => work(kind).to_owned(),
    };
    format!("{ALONE}\n{words}")
}

fn verdict() -> String {
    format!(
        "Change nothing; what you change is thrown away. Your final message is the verdict. Its first line is exactly \
         PASS, or FAIL: and a reason; after PASS, say in two lines or more what you looked at and tried; after FAIL, list what must be \
         repaired, one `- ` line for each fault. Or answer with one JSON object of the schema below, with nothing around \
         it and in no code block, such as {EXAMPLE}\n\
         A PASS has no findings, and a reason of two lines or more. The schema:\n{}",
        Ruling::SCHEMA
    )
}

const fn work(kind: PhaseKind) -> &'static str {
    match kind {
        PhaseKind::Coding => {
            "Commit the work or leave it uncommitted: the host keeps both. \
             Saying that it is done proves nothing; the host looks at the tree and runs its checks."
        }
        PhaseKind::Benchmark => {
            "Measure, more than once where it is cheap. Your final message is one JSON object, with nothing around it and in no code block: \
             {\"machine\": \"what it ran on\", \"commands\": [\"each command that made the numbers, as it was run\"], \"numbers\": {…}}. \
             All three are needed, and `numbers` holds numbers, not text; name the unit in each key. Without them the attempt counts as failed."
        }
        PhaseKind::SecurityScan => {
            "Look for what an attacker could use. Change no file. Your final message is one JSON object in SARIF 2.1.0, with nothing around \
             it and in no code block: {\"version\": \"2.1.0\", \"runs\": [{\"tool\": {\"driver\": {\"name\": \"what looked\"}}, \"results\": \
             [{\"ruleId\": \"…\", \"level\": \"error\", \"message\": {\"text\": \"…\"}, \"locations\": […]}]}]}. Without a finding `results` is empty. \
             A blank report counts as a failure."
        }
        PhaseKind::Research => {
            "Find out. Change no file. End with your report as your final message; a blank one counts as a failure."
        }
    }
}

#[cfg(test)]
mod tests {
    use backstop_engine::gates::Verdict;
    use backstop_engine::review::Finding;
    use serde_json::{Value, json};

    use super::*;

    fn read(object: &Value) -> Ruling {
        Ruling::read(&object.to_string(), None)
    }

    #[test]
    fn the_example_of_the_contract_is_read_as_it_says() {
        for role in [Role::Reviewer, Role::Verifier] {
            let contract = contract(role, PhaseKind::Coding);
            assert!(contract.contains(EXAMPLE) && contract.ends_with(Ruling::SCHEMA));
        }
        let Ruling::Verdict { verdict, findings } = Ruling::read(EXAMPLE, None) else {
            panic!("no verdict");
        };
        let reason = "the total is wrong".parse().unwrap();
        assert_eq!(verdict, Verdict::Fail { reason });
        let findings: Vec<&str> = findings.as_slice().iter().map(Finding::as_str).collect();
        let wanted = ["src/total.rs: it leaves out the tax", "nothing tests it"];
        assert_eq!(findings, wanted);
    }

    /// Every word, key and form that the schema names is read, and what it closes is refused.
    #[test]
    fn the_schema_and_the_reading_agree() {
        let schema: Value = serde_json::from_str(Ruling::SCHEMA).unwrap();
        let keys = |schema: &Value| -> Vec<String> {
            assert_eq!(schema["additionalProperties"], false);
            schema["properties"]
                .as_object()
                .unwrap()
                .keys()
                .cloned()
                .collect()
        };
        assert_eq!(keys(&schema), ["findings", "reason", "verdict"]);
        let forms = &schema["properties"]["findings"]["items"]["anyOf"];
        assert_eq!(forms[0]["type"], "string");
        assert_eq!(keys(&forms[1]), ["path", "summary"]);
        // Providers that hold a model to a schema want every key required.
        assert_eq!(schema["required"], json!(["verdict", "reason", "findings"]));
        assert_eq!(forms[1]["required"], json!(["summary", "path"]));
        assert_eq!(
            forms[1]["properties"]["path"]["type"],
            json!(["string", "null"])
        );
        let words = &schema["properties"]["verdict"]["enum"];
        assert_eq!(words, &json!(["PASS", "FAIL"]));

        let findings = json!(["a", {"summary": "b"}, {"summary": "b", "path": null}, {"summary": "c", "path": "d"}]);
        for word in words.as_array().unwrap() {
            let whole = json!({"verdict": word, "reason": "why", "findings": findings});
            let Ruling::Verdict { verdict, findings } = read(&whole) else {
                panic!("{whole}");
            };
            assert_eq!(matches!(verdict, Verdict::Pass), word == "PASS");
            assert_eq!(findings.as_slice().len(), 4);
            let mut more = whole.clone();
            more["sure"] = true.into();
            assert!(matches!(read(&more), Ruling::None(_)), "{more}");
        }
        for finding in [
            json!({"path": "d"}),
            json!({"summary": "c", "line": 1}),
            json!(1),
        ] {
            let object = json!({"verdict": "FAIL", "reason": "why", "findings": [finding]});
            assert!(matches!(read(&object), Ruling::None(_)), "{object}");
        }
    }
}
