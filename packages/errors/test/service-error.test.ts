import { errorCodes, isErrorCode, statusOf } from "@coffer/contract";
import t from "tap";
import { ServiceError } from "../src/index.ts";

void t.test("an error has the status of its code", (t) => {
  for (const code of Object.keys(errorCodes).filter(isErrorCode)) {
    t.equal(new ServiceError(code, "no").status, statusOf(code), code);
  }
  t.end();
});

void t.test("an error has its message, details, delay and cause", (t) => {
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
