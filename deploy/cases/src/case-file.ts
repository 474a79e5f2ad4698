import { z } from "zod";

/** Text in which `${name.field}` stands for something that the case was given or has saved. */
const text = z.string();
const alias = z.string().regex(/^[a-z][a-z0-9_]*$/);
const permission = z.enum(["read", "write"]);
const grants = z.record(alias, permission);

const secretGiven = z.strictObject({
  folder: alias,
  title: z.string().optional(),
  type: z.string().default("api_credential"),
  name: z.string().default("a secret"),
  fields: z.record(z.string(), z.string()).default({}),
});
export type SecretGiven = z.infer<typeof secretGiven>;

const tokenGiven = z.strictObject({
  grants,
  /** Folders among the grants whose key is not sealed for the token. */
  unsealed: z.array(alias).default([]),
  /** The service makes the token, and seals nothing. */
  made_by_service: z.boolean().default(false),
  /** In an application that nothing else is in. */
  own_application: z.boolean().default(false),
  expires_in: z.number().optional(),
  client_expires_in: z.number().optional(),
  allowed_cidrs: z.array(z.string()).optional(),
});
export type TokenGiven = z.infer<typeof tokenGiven>;

/** The sessions of somebody who is there for this case alone: the first is that of the registration. */
const sessions = z.array(alias).min(1);

/** What must be there before the first step, by the names under which the steps speak of it. */
export const givenFile = z.strictObject({
  folders: z.array(alias).default([]),
  secrets: z.record(alias, secretGiven).default({}),
  tokens: z.record(alias, tokenGiven).default({}),
  machines: z.record(alias, z.union([grants, tokenGiven])).default({}),
  people: z.record(alias, sessions).default({}),
});
export type Given = z.infer<typeof givenFile>;

const jwt = z.strictObject({
  header: z.record(z.string(), z.unknown()).default({}),
  claims: z.record(z.string(), z.unknown()).default({}),
  /** Whose key signs; the machine's own unless told. */
  key: z.enum(["own", "another"]).default("own"),
  signature: z.enum(["p1363", "der", "altered", "none", "hmac"]).default("p1363"),
});
export type JwtGiven = z.infer<typeof jwt>;

/** The request is signed as an event of Stripe. */
const stripe = z.strictObject({
  /** How many seconds ago. */
  age: z.number().default(0),
  /** Whose key signs: a signing secret of the installation, or one that it does not know. */
  key: z.enum(["own", "another"]).default("own"),
  /** What is signed in the place of the body. */
  over: z.string().optional(),
});
export type StripeGiven = z.infer<typeof stripe>;

const expectation = z.strictObject({
  status: z.union([z.int(), z.array(z.int())]),
  headers: z.record(z.string(), z.unknown()).default({}),
  body: z.unknown().optional(),
});
export type Expectation = z.infer<typeof expectation>;

/** What a client opens of an answer. A folder key is found under its folder's id. */
const opening = z.strictObject({
  sealed: text,
  as: z.enum(["data", "title", "field", "folder_key"]),
  folder: alias,
  uid: text.optional(),
  field: z.string().optional(),
  dek: text.optional(),
  token: alias.optional(),
  gives: z.unknown().optional(),
});
export type Opening = z.infer<typeof opening>;

const speaker = {
  /**
   * A machine, or a person (`owner`, `member`, `traveller`, `neighbour`, or a session of `people`); without it the request
   * says nobody.
   */
  as: alias.optional(),
  jwt: jwt.optional(),
  headers: z.record(z.string(), text).default({}),
  /** Source addresses by name; every request of a case comes from the same one unless told. */
  from: z.string().optional(),
};
export type Speaker = z.infer<z.ZodObject<typeof speaker>>;

const request = {
  send: text,
  ...speaker,
  /** The header as it is, in the place of a machine's token. */
  authorization: z.unknown().optional(),
  body: z.unknown().optional(),
  /** A body that is not JSON of our making. */
  text: z.unknown().optional(),
  type: z.string().optional(),
  stripe: stripe.optional(),
};

const send = z.strictObject({
  ...request,
  times: z.int().positive().default(1),
  expect: expectation,
  save: z.record(alias, z.string()).default({}),
  opens: z.array(opening).default([]),
});
export type Send = z.infer<typeof send>;

const together = z.strictObject({
  together: z.strictObject({ ...request, each_from_elsewhere: z.boolean().default(false) }),
  times: z.int().positive(),
  expect: z.strictObject({ statuses: z.record(z.string().regex(/^\d{3}$/), z.int()) }),
});
export type Together = z.infer<typeof together>;

/** Seconds in which something must come, where a step does not say: what the specification calls "within seconds". */
const within = z.number().positive().default(10);

const open = z.strictObject({
  /** What the steps after it call the connection. */
  open: alias,
  ...speaker,
  /** What follows the path. The token of `as`, unless this or `protocols` is given; there it is `${access_token}`. */
  query: text.optional(),
  protocols: z.array(text).optional(),
  /** Whether pings are answered. */
  pongs: z.boolean().default(true),
  expect: expectation.extend({ status: z.int().default(101), protocol: text.optional() }).prefault({}),
});
export type Open = z.infer<typeof open>;

const say = z.strictObject({
  say: alias,
  /** JSON, or a text as it is. */
  message: z.unknown(),
  /** As a binary message. */
  binary: z.boolean().default(false),
});
export type Say = z.infer<typeof say>;

const hear = z.strictObject({
  hear: alias,
  /** Messages that are not like this are passed over. */
  which: z.unknown().optional(),
  message: z.unknown(),
  within,
  save: z.record(alias, z.string()).default({}),
});
export type Hear = z.infer<typeof hear>;

/** It is open for so many seconds more. */
const stays = z.strictObject({ stays: alias, for: z.number().positive() });
export type Stays = z.infer<typeof stays>;

const closed = z.strictObject({
  closed: alias,
  code: z.int(),
  within,
  /** No message like this may have come before it, since the last one that was heard. */
  without: z.unknown().optional(),
});
export type Closed = z.infer<typeof closed>;

const socketStep = z.union([
  open,
  say,
  hear,
  stays,
  closed,
  z.strictObject({ pinged: alias, within: z.number().positive() }),
  z.strictObject({ close: alias }),
]);
export type SocketStep = z.infer<typeof socketStep>;

const single = z.union([
  z.strictObject({ let: z.record(alias, z.unknown()) }),
  z.strictObject({ pause: z.number().positive() }),
  z.strictObject({ quiet: z.literal(true) }),
  together,
  send,
  socketStep,
]);

const until = z.strictObject({ until: z.union([send, z.array(single).min(1)]), within: z.number().positive() });

const step = z.union([until, single]);
export type Step = z.infer<typeof step>;

export const caseFile = z.strictObject({
  /** Sections of the specification. */
  proves: z.array(z.string().regex(/^\d(\.\d)?( rule \d)?$/)).min(1),
  says: z.string(),
  given: givenFile.prefault({}),
  /**
   * `forwarded`: several source addresses; `direct`: the runner's own address is what counts; `stripe`: a signing secret of
   * the installation.
   */
  needs: z.enum(["forwarded", "direct", "stripe"]).optional(),
  steps: z.array(step).min(1),
});
export type CaseFile = z.infer<typeof caseFile>;
