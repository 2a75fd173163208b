//! Which model did the work, as it was asked for and as it ran. Whether a receipt may be missing is decided in `judge`.

use alloc::vec::Vec;
use core::fmt;

use backstop_vocab::{RoleName, Text};
use serde::{Deserialize, Serialize};

/// A name that a provider, a model or a session goes by: at most 128 bytes.
pub type Label = Text<128>;

/// The reasoning effort that a model really used.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectiveReasoning {
    /// The adapter saw it.
    Known(Label),
    /// The adapter says that it was not told. An answer, unlike silence.
    Unreported,
}

/// Who chose the model.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum RoutedBy {
    /// A configured member of a fleet.
    FleetMember,
    /// A model that routes to others.
    Router {
        /// Its provider.
        provider: Label,
        /// Its name.
        model: Label,
    },
    /// The session's own default.
    SessionDefault,
    /// The adapter says that it was not told. An answer, unlike silence.
    Unreported,
}

/// A receipt as it was reported: any part may be missing, and a blank part counts as missing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RouteReceipt {
    /// Who the agent was.
    pub role: Option<RoleName>,
    /// Who serves the model.
    pub provider: Option<Label>,
    /// The model.
    pub model: Option<Label>,
    /// The reasoning effort that was asked for; `default` where none was.
    pub requested_reasoning: Option<Label>,
    /// The reasoning effort that was used.
    pub effective_reasoning: Option<EffectiveReasoning>,
    /// Who chose the model.
    pub routed_by: Option<RoutedBy>,
    /// The agent's session, by which independence is judged.
    pub session: Option<Label>,
}

/// A part of a receipt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Field {
    /// The whole receipt.
    Receipt,
    /// Who the agent was.
    Role,
    /// Who serves the model.
    Provider,
    /// The model.
    Model,
    /// The reasoning effort that was asked for.
    RequestedReasoning,
    /// The reasoning effort that was used, or that it is unreported.
    EffectiveReasoning,
    /// Who chose the model.
    RoutedBy,
    /// The identity of the router that chose it.
    Router,
    /// The session.
    Session,
}

impl Field {
    /// The name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Receipt => "receipt",
            Self::Role => "role",
            Self::Provider => "provider",
            Self::Model => "model",
            Self::RequestedReasoning => "requested_reasoning",
            Self::EffectiveReasoning => "effective_reasoning",
            Self::RoutedBy => "routed_by",
            Self::Router => "router",
            Self::Session => "session",
        }
    }
}

/// Whose receipt it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Party {
    /// Who made what is judged.
    Implementer,
    /// Who judges it.
    Reviewer,
    /// Who checks it.
    Verifier,
}

impl Party {
    /// The name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Implementer => "implementer",
            Self::Reviewer => "reviewer",
            Self::Verifier => "verifier",
        }
    }
}

/// A part that one party's receipt lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Missing {
    /// Whose receipt.
    pub party: Party,
    /// What it lacks.
    pub field: Field,
}

/// A complete receipt. Made by [`RouteReceipt::complete`] alone.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
// INVARIANT: no label is blank, a router's included.
pub struct Route {
    role: RoleName,
    provider: Label,
    model: Label,
    requested_reasoning: Label,
    effective_reasoning: EffectiveReasoning,
    routed_by: RoutedBy,
    session: Label,
}

impl Route {
    /// The agent's session.
    #[must_use]
    pub const fn session(&self) -> &Label {
        &self.session
    }
}

fn label(field: Field, value: Option<&Label>) -> Result<Label, Field> {
    value
        .filter(|label| !label.is_blank())
        .map(|label| Label::clip(label.as_str().trim()))
        .ok_or(field)
}

fn effective(value: Option<&EffectiveReasoning>) -> Result<EffectiveReasoning, Field> {
    match value {
        None => Err(Field::EffectiveReasoning),
        Some(EffectiveReasoning::Unreported) => Ok(EffectiveReasoning::Unreported),
        Some(EffectiveReasoning::Known(used)) => {
            label(Field::EffectiveReasoning, Some(used)).map(EffectiveReasoning::Known)
        }
    }
}

fn routed_by(value: Option<&RoutedBy>) -> Result<RoutedBy, Field> {
    match value {
        None => Err(Field::RoutedBy),
        Some(RoutedBy::FleetMember) => Ok(RoutedBy::FleetMember),
        Some(RoutedBy::SessionDefault) => Ok(RoutedBy::SessionDefault),
        Some(RoutedBy::Unreported) => Ok(RoutedBy::Unreported),
        Some(RoutedBy::Router { provider, model }) => Ok(RoutedBy::Router {
            provider: label(Field::Router, Some(provider))?,
            model: label(Field::Router, Some(model))?,
        }),
    }
}

/// The value, or nothing and a note of what is missing.
fn part<T>(value: Result<T, Field>, missing: &mut Vec<Field>) -> Option<T> {
    value.map_err(|field| missing.push(field)).ok()
}

impl RouteReceipt {
    /// The receipt, complete.
    ///
    /// # Errors
    /// Every part that is missing or blank.
    pub fn complete(&self) -> Result<Route, Vec<Field>> {
        let mut missing = Vec::new();
        let lack = &mut missing;
        let role = part(self.role.clone().ok_or(Field::Role), lack);
        let provider = part(label(Field::Provider, self.provider.as_ref()), lack);
        let model = part(label(Field::Model, self.model.as_ref()), lack);
        let requested = self.requested_reasoning.as_ref();
        let requested = part(label(Field::RequestedReasoning, requested), lack);
        let effective = part(effective(self.effective_reasoning.as_ref()), lack);
        let routed_by = part(routed_by(self.routed_by.as_ref()), lack);
        let session = part(label(Field::Session, self.session.as_ref()), lack);
        let whole = || {
            Some(Route {
                role: role?,
                provider: provider?,
                model: model?,
                requested_reasoning: requested?,
                effective_reasoning: effective?,
                routed_by: routed_by?,
                session: session?,
            })
        };
        whole().ok_or(missing)
    }
}

impl fmt::Display for EffectiveReasoning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(used) => f.write_str(used.as_str()),
            Self::Unreported => f.write_str("unreported"),
        }
    }
}

impl fmt::Display for RoutedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FleetMember => f.write_str("fleet member"),
            Self::Router { provider, model } => write!(f, "router {provider}/{model}"),
            Self::SessionDefault => f.write_str("session default"),
            Self::Unreported => f.write_str("unreported"),
        }
    }
}

impl fmt::Display for Route {
    /// `reviewer: p/m reasoning max→high (routed by router p/m)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (role, provider, model) = (&self.role, &self.provider, &self.model);
        let (asked, used) = (&self.requested_reasoning, &self.effective_reasoning);
        let routed = &self.routed_by;
        write!(
            f,
            "{role}: {provider}/{model} reasoning {asked}→{used} (routed by {routed})"
        )
    }
}
