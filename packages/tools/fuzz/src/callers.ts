/**
 * The callers. `stranger` is a person of another organization, `forger` has a token with an invalid
 * signature.
 */
export const callerNames = ["anonymous", "person", "machine", "member", "stranger", "forger"] as const;
export type CallerName = (typeof callerNames)[number];

/** A caller of requests. */
export interface Caller {
  /** The base address of the installation. */
  url: string;
  authorization: string | undefined;
}

/** A well-formed token without a valid signature. */
export const forgedToken = [
  { alg: "ES256", typ: "JWT" },
  { sub: "019a9e10-1111-7111-8111-111111111111", aud: "http://127.0.0.1", iat: 1, exp: 2 ** 40 },
]
  .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
  .concat(Buffer.alloc(64, 7).toString("base64url"))
  .join(".");
