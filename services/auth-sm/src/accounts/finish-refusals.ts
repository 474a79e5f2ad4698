import { ServiceError } from "@coffer/errors";
import type { Spent } from "./spend-start.ts";

type Refused = Exclude<Spent, { kind: "proven" }>;

export function loginRefusal(spent: Refused): ServiceError {
  return refusalOf(spent, "the e-mail or the password is wrong, or the login took too long");
}

export function recoveryRefusal(spent: Refused): ServiceError {
  return refusalOf(spent, "the e-mail or the recovery key is wrong, or the recovery took too long");
}

/** `wrong` is one message for all causes that a caller must not be able to distinguish. */
function refusalOf(spent: Refused, wrong: string): ServiceError {
  if (spent.kind === "malformed") return spent.error;
  if (spent.kind === "wait") return tooManyCodes(spent.seconds);
  if (spent.kind === "otp")
    return new ServiceError("otp_required", "the code of the second factor (otp) is missing or wrong");
  return new ServiceError("invalid_credentials", wrong);
}

/** The refusal of an action that needs a new proof of the password. */
export function proofRefusal(spent: Refused | null): ServiceError {
  if (spent?.kind === "wait") return tooManyCodes(spent.seconds);
  if (spent?.kind === "otp") {
    return new ServiceError("reauth_required", "the code of the second factor (otp) is missing or wrong", {
      details: [{ field: "otp", issue: "missing or wrong" }],
    });
  }
  return new ServiceError(
    "reauth_required",
    "this needs a new proof of the password: call login/start and send login_id and finish_login_request",
  );
}

function tooManyCodes(seconds: number): ServiceError {
  return new ServiceError(
    "rate_limited",
    "too many wrong codes of the second factor: wait as Retry-After says, or use a recovery code",
    { retryAfterSeconds: seconds },
  );
}
