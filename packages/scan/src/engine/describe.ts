import { fingerprintOf } from "../checks/fingerprint.ts";
import type { Confidence, SecretDescription } from "../finding.ts";
import type { Detection } from "./run-rule.ts";
import { shownPrefix } from "./run-rule.ts";

/** A secret as it is reported: never the secret itself, unless `showSecret` is set. */
export function describeSecret(detection: Detection, confidence: Confidence, showSecret: boolean): SecretDescription {
  const { rule, secret, checksum, accountId, identity, reportAs } = detection;
  const bytes = Buffer.from(secret, "latin1");
  return {
    kind: rule.kind,
    rule_id: reportAs ?? rule.id,
    confidence,
    redacted: `${shownPrefix(rule, secret)}***`,
    length: bytes.length,
    fingerprint: fingerprintOf(rule.kind, identity ?? bytes),
    checksum,
    ...(accountId === undefined ? {} : { account_id: accountId }),
    ...(showSecret ? { secret: bytes.toString("utf8") } : {}),
  };
}
