import type { Mutant } from "../../mutant.ts";

const source = "packages/crypto/src";
const vectors = "packages/crypto/test/vectors.test.ts";
const box = "packages/crypto/test/box.test.ts";

/** Encryption by clients. */
export const cryptoMutants: readonly Mutant[] = [
  {
    name: "context-not-bound-to-what-is-sealed",
    file: `${source}/contexts.ts`,
    find: 'build("data", checked(secretUid, uid))',
    replace: 'build("data", checked(secretUid, uid).slice(0, 1))',
    tests: [vectors, box],
  },
  {
    name: "box-opened-in-any-context",
    file: `${source}/box.ts`,
    find: "  const additionalData = encodeText(context);\n",
    replace: '  const additionalData = encodeText(context === "" ? context : "coffer/v1");\n',
    tests: [vectors, box],
  },
  {
    name: "box-nonce-used-again",
    file: `${source}/box.ts`,
    find: "boxWithNonce(key, crypto.getRandomValues(new Uint8Array(nonceBytes)), plaintext, context)",
    replace: "boxWithNonce(key, new Uint8Array(nonceBytes), plaintext, context)",
    tests: [box],
  },
  {
    name: "bound-key-opened-without-its-context",
    file: `${source}/box.ts`,
    find: "  const opened = await openVersion1(cryptoKey, decodeBase64(text), context);",
    replace:
      "  const bytes = decodeBase64(text);\n  const opened = (await openVersion1(cryptoKey, bytes, context)) ?? (await openAt(cryptoKey, bytes, 0, null));",
    tests: [box, vectors],
  },
  {
    name: "server-chooses-a-weaker-stretching",
    file: `${source}/opaque.ts`,
    find: 'if ("keyStretching" in answer || "identifiers" in answer) {',
    replace: 'if ("identifiers" in answer) {',
    tests: ["packages/crypto/test/opaque.test.ts"],
  },
  {
    name: "password-stretched-less",
    file: `${source}/opaque.ts`,
    find: 'export const keyStretching = "memory-constrained";',
    replace: 'export const keyStretching = { "argon2id-custom": { iterations: 1, memory: 8192, parallelism: 1 } };',
    tests: ["packages/crypto/test/opaque.test.ts"],
  },
  {
    name: "sealed-key-opened-as-something-else",
    file: `${source}/seal.ts`,
    find: 'if (protectedHeader["ctx"] !== context) {',
    replace: 'if (protectedHeader["ctx"] === undefined) {',
    tests: [vectors, box],
  },
  {
    name: "recovery-proof-is-the-key-that-opens",
    file: `${source}/recovery-key.ts`,
    find: '"coffer/recovery/auth/v1"',
    replace: '"coffer/recovery/wrap/v1"',
    tests: [vectors],
  },
  {
    name: "one-time-token-sent-is-the-key-that-opens",
    file: `${source}/one-time-seed.ts`,
    find: "derive(seed, `coffer/${purpose}/auth/v1`)",
    replace: "derive(seed, `coffer/${purpose}/wrap/v1`)",
    tests: [vectors],
  },
  {
    name: "sealed-key-with-a-name-of-its-sender-opens",
    file: `${source}/seal.ts`,
    find: '["zip", "apu", "apv"]',
    replace: '["zip", "apv"]',
    tests: [vectors],
  },
  {
    name: "uid-with-unused-bits-in-a-context",
    file: `${source}/contexts.ts`,
    find: "{20}[AQgw]$/",
    replace: "{21}$/",
    tests: [vectors],
  },
];
