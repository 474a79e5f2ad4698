import t from "tap";
import { errorCodes, isErrorCode, ServiceError, statusOf } from "../src/index.ts";

void t.test("the codes and their statuses are exactly the documented ones", (t) => {
  t.same(errorCodes, {
    invalid_request: 400,
    invalid_token: 401,
    invalid_credentials: 401,
    otp_required: 401,
    token_reused: 401,
    access_denied: 403,
    plan_required: 403,
    reauth_required: 403,
    registration_closed: 403,
    quota_exceeded: 403,
    secret_not_found: 404,
    not_found: 404,
    conflict: 409,
    precondition_failed: 412,
    payload_too_large: 413,
    rate_limited: 429,
    internal_error: 500,
    unavailable: 503,
  });
  t.end();
});

void t.test("a string is a code only when it is in the list", (t) => {
  t.ok(isErrorCode("secret_not_found"));
  for (const name of ["", "toString", "__proto__", "constructor", "SECRET_NOT_FOUND", "teapot"])
    t.notOk(isErrorCode(name), name);
  t.end();
});

void t.test("an error has the status of its code", (t) => {
  for (const code of Object.keys(errorCodes).filter(isErrorCode)) {
    t.equal(new ServiceError(code, "no").status, statusOf(code), code);
  }
  t.end();
});

void t.test("an error keeps message, details, delay and cause", (t) => {
  const cause = new Error("deep");
  const details = [{ field: "title", issue: "too long" }];
  const error = new ServiceError("rate_limited", "slow down", { details, retryAfterSeconds: 7, cause });
  t.ok(error instanceof Error);
  t.equal(error.name, "ServiceError");
  t.equal(error.message, "slow down");
  t.same(error.details, details);
  t.equal(error.retryAfterSeconds, 7);
  t.equal(error.cause, cause);
  t.end();
});

void t.test("an error without options has none of them, not even an empty cause", (t) => {
  const error = new ServiceError("not_found", "record not found");
  t.equal(error.details, undefined);
  t.equal(error.retryAfterSeconds, undefined);
  t.notOk("cause" in error);
  t.end();
});
