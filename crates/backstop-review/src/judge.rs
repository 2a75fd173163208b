//! What a complete review of the pin amounts to. Slots, spend and receipts are dealt with before, in `states`.

use alloc::vec::Vec;

use crate::bounds::Require;
use crate::receipt::Receipt;
use crate::review::{Judged, Verdict, VerifierRoute};
use crate::route::Party;
use crate::stop::{Ceiling, Inconclusive, StopReason};

/// What becomes of the loop.
pub(crate) enum Judgement {
    Clean,
    Repair,
    Stop(StopReason),
}

/// Judges a review that `receipt` has on record already, in the order: verifier, sessions, ceilings, verdict.
pub(crate) fn judge(receipt: &Receipt, review: &Judged) -> Judgement {
    let stop = no_verifier(receipt, review)
        .or_else(|| shared_session(receipt, review))
        .or_else(|| over_ceilings(receipt, review));
    stop.map_or_else(|| judge_verdict(receipt, review), Judgement::Stop)
}

fn no_verifier(receipt: &Receipt, review: &Judged) -> Option<StopReason> {
    match (receipt.policy().verifier_receipt, &review.routes.verifier) {
        (Require::Required, None) => Some(StopReason::Inconclusive(Inconclusive::NoVerifier)),
        (Require::Required, Some(_)) | (Require::NotRequired, _) => None,
    }
}

fn shared_session(receipt: &Receipt, review: &Judged) -> Option<StopReason> {
    let reviewer = review.routes.reviewer.session();
    let verifier = match &review.routes.verifier {
        Some(VerifierRoute::Agent(route)) => Some(route.session()),
        Some(VerifierRoute::Host(_)) | None => None,
    };
    let pairs = [
        (
            Party::Implementer,
            Party::Reviewer,
            receipt.implemented(reviewer),
        ),
        (
            Party::Implementer,
            Party::Verifier,
            verifier.is_some_and(|session| receipt.implemented(session)),
        ),
        (Party::Reviewer, Party::Verifier, verifier == Some(reviewer)),
    ];
    let shared = pairs.into_iter().find(|(_, _, shared)| *shared);
    shared
        .map(|(one, other, _)| StopReason::Inconclusive(Inconclusive::SharedSession { one, other }))
}

fn over_ceilings(receipt: &Receipt, review: &Judged) -> Option<StopReason> {
    let (passed, verdict) = (receipt.passed(), review.verdict);
    (!passed.is_empty()).then_some(StopReason::Ceilings { passed, verdict })
}

fn judge_verdict(receipt: &Receipt, review: &Judged) -> Judgement {
    let inconclusive = |why| Judgement::Stop(StopReason::Inconclusive(why));
    match (review.verdict, review.findings.is_empty()) {
        (None, _) => inconclusive(Inconclusive::NoVerdict),
        (Some(Verdict::Clean), false) => inconclusive(Inconclusive::CleanWithFindings),
        (Some(Verdict::Clean), true) if is_host_red(review) => {
            inconclusive(Inconclusive::CleanAgainstRed)
        }
        (Some(Verdict::Clean), true) => Judgement::Clean,
        (Some(Verdict::RepairsNeeded), true) => inconclusive(Inconclusive::RepairsWithoutFindings),
        (Some(Verdict::RepairsNeeded), false) if receipt.is_last_iteration() => {
            Judgement::Stop(StopReason::Ceilings {
                passed: Vec::from([Ceiling::Iterations]),
                verdict: review.verdict,
            })
        }
        (Some(Verdict::RepairsNeeded), false) => Judgement::Repair,
    }
}

fn is_host_red(review: &Judged) -> bool {
    match &review.routes.verifier {
        Some(VerifierRoute::Host(evidence)) => evidence.exit_status != 0,
        Some(VerifierRoute::Agent(_)) | None => false,
    }
}
