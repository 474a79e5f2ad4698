import type { Rule } from "../rule.ts";
import { base62, base64Url, lowerBase36, lowerHex, tokenRule, uuid } from "./shape.ts";

export const commerceRules: readonly Rule[] = [
  tokenRule({
    id: "square-access-token",
    kind: "payment-processor access token",
    description: "Square access token",
    reference: "https://developer.squareup.com/docs/build-basics/access-tokens",
    shape: ["EAAA", base64Url(60)],
    minEntropy: 4.3,
  }),
  tokenRule({
    id: "square-personal-token",
    kind: "payment-processor access token",
    description: "Square personal access token of the older form",
    reference: "https://developer.squareup.com/docs/build-basics/access-tokens",
    shape: ["sq0atp-", base64Url(22)],
    minEntropy: 3.2,
  }),
  tokenRule({
    id: "square-oauth-secret",
    kind: "payment-processor client secret",
    description: "Square OAuth application secret",
    reference: "https://developer.squareup.com/docs/oauth-api/overview",
    shape: ["sq0csp-", base64Url(43)],
    minEntropy: 3.8,
  }),
  ...(["shpat", "shpca", "shppa", "shpss"] as const).map((prefix) =>
    tokenRule({
      id: `shopify-${prefix}-token`,
      kind: "commerce platform access token",
      description: `Shopify token with the prefix ${prefix}`,
      reference: "https://shopify.dev/docs/apps/build/authentication-authorization/access-tokens",
      shape: [`${prefix}_`, lowerHex(32)],
    }),
  ),
  tokenRule({
    id: "plaid-access-token",
    kind: "bank data access token",
    description: "Plaid access token of production",
    reference: "https://plaid.com/docs/api/tokens/",
    shape: ["access-production-", ...uuid],
  }),
  tokenRule({
    id: "paddle-api-key",
    kind: "payment-processor API key",
    description: "Paddle API key of the live mode",
    reference: "https://developer.paddle.com/api-reference/about/api-keys",
    shape: ["pdl_live_apikey_", lowerBase36(26), "_", base62(22), "_", base62(3)],
  }),
  tokenRule({
    id: "flutterwave-secret-key",
    kind: "payment-processor live secret key",
    description: "Flutterwave secret key",
    reference: "https://developer.flutterwave.com/docs/authentication",
    shape: ["FLWSECK-", lowerHex(32), "-X"],
  }),
  tokenRule({
    id: "easypost-key",
    kind: "shipping API token",
    description: "EasyPost key of production",
    reference: "https://docs.easypost.com/docs/authentication",
    shape: ["EZAK", base62(54)],
    minEntropy: 4,
  }),
  tokenRule({
    id: "duffel-token",
    kind: "travel API token",
    description: "Duffel token of the live mode",
    reference: "https://duffel.com/docs/api/overview/making-requests/authentication",
    shape: ["duffel_live_", base64Url(43)],
    minEntropy: 3.8,
  }),
];
