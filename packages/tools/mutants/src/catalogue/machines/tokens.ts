import type { Mutant } from "../../mutant.ts";

const machine = "packages/tokens/test/machine-token.test.ts";
const user = "packages/tokens/test/user-token.test.ts";
const source = "packages/tokens/src";

/** Tokens with false claims, or for others. */
export const tokenMutants: readonly Mutant[] = [
  {
    name: "token-of-any-algorithm-accepted",
    file: `${source}/parse-jwt.ts`,
    find: 'if (alg !== "ES256") throw',
    replace: 'if (typeof alg !== "string") throw',
    tests: [machine],
  },
  {
    name: "token-of-any-type-accepted",
    file: `${source}/parse-jwt.ts`,
    find: 'typ.toUpperCase() !== "JWT"',
    replace: "typ.length > 64",
    tests: [machine],
  },
  {
    name: "token-that-demands-an-extension-accepted",
    file: `${source}/parse-jwt.ts`,
    find: 'Object.hasOwn(jwt.header, "crit")',
    replace: 'Object.hasOwn(jwt.header, "critical")',
    tests: [machine],
  },
  {
    name: "token-signature-unchecked",
    file: `${source}/is-signed-by.ts`,
    find: 'return verify("sha256"',
    replace: 'return true || verify("sha256"',
    tests: [machine],
  },
  {
    name: "token-accepted-in-the-second-it-expires",
    file: `${source}/check-times.ts`,
    find: "if (exp <= nowSeconds)",
    replace: "if (exp < nowSeconds)",
    tests: [machine],
  },
  {
    name: "token-expiry-with-leeway",
    file: `${source}/check-times.ts`,
    find: "if (exp <= nowSeconds)",
    replace: "if (exp + 5 <= nowSeconds)",
    tests: [machine],
  },
  {
    name: "token-from-the-future-accepted",
    file: `${source}/check-times.ts`,
    find: "Math.max(iat, nbf) > nowSeconds + futureSeconds",
    replace: "Math.max(iat, nbf) > nowSeconds + futureSeconds + 1",
    tests: [machine],
  },
  {
    name: "token-not-before-unchecked",
    file: `${source}/check-times.ts`,
    find: "Math.max(iat, nbf)",
    replace: "iat",
    tests: [machine],
  },
  {
    name: "token-may-live-a-second-longer",
    file: `${source}/check-times.ts`,
    find: "if (exp - iat > longestSeconds)",
    replace: "if (exp - iat > longestSeconds + 1)",
    tests: [machine],
  },
  {
    name: "machine-token-for-another-server-accepted",
    file: `${source}/verify-machine-token.ts`,
    find: 'if (!isFor(audiences, jwt.claims["aud"]))',
    replace: 'if (jwt.claims["aud"] === undefined)',
    tests: [machine],
  },
  {
    name: "user-token-for-another-audience-accepted",
    file: `${source}/verify-user-token.ts`,
    find: "aud !== userAudience || !issuers.includes(iss)",
    replace: "!issuers.includes(iss)",
    tests: [user],
  },
  {
    name: "user-token-of-another-issuer-accepted",
    file: `${source}/verify-user-token.ts`,
    find: "aud !== userAudience || !issuers.includes(iss)",
    replace: "aud !== userAudience",
    tests: [user],
  },
  {
    name: "revoked-key-still-accepts-cached-tokens",
    file: `${source}/verify-user-token.ts`,
    find: "if ((await findKey(verified.kid)) === null)",
    replace: 'if (verified.kid === "")',
    tests: [user],
  },
  {
    name: "public-key-with-trailing-bytes-accepted",
    file: `${source}/canonical-public-key.ts`,
    find: "if (given.length !== pointBytes && !given.equals(spki)) throw refused();",
    replace: "",
    tests: ["packages/tokens/test/public-key.test.ts"],
  },
  {
    name: "public-key-off-the-curve-accepted",
    file: `${source}/canonical-public-key.ts`,
    find: "if (!isOnCurve(spki)) throw refused();",
    replace: "",
    tests: ["packages/tokens/test/public-key.test.ts"],
  },
];
