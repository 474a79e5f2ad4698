/** Who may send a request. `stranger` is a person of another organization, `forger` shows a token that nobody signed. */
export const callerNames = ["anonymous", "person", "machine", "member", "stranger", "forger"] as const;
export type CallerName = (typeof callerNames)[number];

/** Somebody who sends requests. */
export interface Caller {
  /** The base address of the installation. */
  url: string;
  authorization: string | undefined;
}

/** A token of the right form that nobody has signed. */
export const forgedToken = [
  { alg: "ES256", typ: "JWT" },
  { sub: "019a9e10-1111-7111-8111-111111111111", aud: "http://127.0.0.1", iat: 1, exp: 2 ** 40 },
]
  .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
  .concat(Buffer.alloc(64, 7).toString("base64url"))
  .join(".");
