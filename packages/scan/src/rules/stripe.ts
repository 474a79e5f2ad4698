import type { Candidate, Rule, Verdict } from "../rule.ts";
import { base62, lowerHex, ofCharacters, tokenRule } from "./shape.ts";

const reference = "https://docs.stripe.com/keys";
const revoke = "https://dashboard.stripe.com/apikeys";

/** Vendors whose keys have the same prefix, by the words that stand near them. */
const others: readonly (readonly [words: RegExp, id: string])[] = [
  [/clerk/i, "clerk-secret-key"],
  [/paystack/i, "paystack-secret-key"],
  [/unkey/i, "unkey-secret-key"],
];

const labelled = (candidate: Candidate): Verdict => {
  const near = `${candidate.before(120)} ${candidate.after(120)}`;
  const other = /stripe/i.test(near) ? undefined : others.find(([words]) => words.test(near));
  return { confidence: "high", ...(other === undefined ? {} : { reportAs: other[1] }) };
};

export const stripeRules: readonly Rule[] = [
  tokenRule({
    id: "stripe-live-secret-key",
    kind: "payment-processor live secret key",
    description: "Stripe secret key of the live mode",
    reference,
    revoke,
    shape: ["sk_live_", base62(20, 247)],
    minEntropy: 3,
    check: labelled,
  }),
  tokenRule({
    id: "stripe-live-restricted-key",
    kind: "payment-processor live restricted key",
    description: "Stripe restricted key of the live mode",
    reference,
    revoke,
    shape: ["rk_live_", base62(20, 247)],
    minEntropy: 3,
    check: labelled,
  }),
  tokenRule({
    id: "stripe-test-key",
    kind: "payment-processor test key",
    description: "Stripe secret or restricted key of the test mode",
    reference,
    revoke,
    shape: [ofCharacters("sr", 1), "k_test_", base62(20, 247)],
    keywords: ["sk_test_", "rk_test_"],
    minEntropy: 3,
    confidence: "low",
  }),
  tokenRule({
    id: "stripe-webhook-secret",
    kind: "payment-processor webhook signing secret",
    description: "Stripe webhook signing secret",
    reference: "https://docs.stripe.com/webhooks/signature",
    revoke: "https://dashboard.stripe.com/webhooks",
    shape: ["whsec_", ofCharacters("A-Za-z0-9+/", 32, 64)],
    minEntropy: 3.5,
  }),
  tokenRule({
    id: "stripe-cli-key",
    kind: "payment-processor organization key",
    description: "Stripe organization key of the live mode",
    reference,
    revoke,
    shape: ["sk_org_live_", base62(20, 247)],
    minEntropy: 3,
  }),
  tokenRule({
    id: "shippo-live-token",
    kind: "shipping API token",
    description: "Shippo token of the live mode",
    reference: "https://docs.goshippo.com/docs/guides_general/authentication/",
    shape: ["shippo_live_", lowerHex(40)],
  }),
];
