import t from "tap";
import { errorCodes, isErrorCode } from "../src/index.ts";

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
  for (const name of ["", null, 404, "toString", "__proto__", "constructor", "SECRET_NOT_FOUND", "teapot"])
    t.notOk(isErrorCode(name), String(name));
  t.end();
});
