import { z } from "zod";

/** Text in which `${name.field}` is replaced by a given or saved value. */
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
  /** In its own application. */
  own_application: z.boolean().default(false),
  expires_in: z.number().optional(),
  client_expires_in: z.number().optional(),
  allowed_cidrs: z.array(z.string()).optional(),
});
export type TokenGiven = z.infer<typeof tokenGiven>;

/** The sessions of a person of this case alone: the first is that of the registration. */
const sessions = z.array(alias).min(1);

/** The objects to make before the first step, by the names that steps use. */
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
  /** The signer of the key; by default the machine itself. */
  key: z.enum(["own", "another"]).default("own"),
  signature: z.enum(["p1363", "der", "altered", "none", "hmac"]).default("p1363"),
});
export type JwtGiven = z.infer<typeof jwt>;

/** The request is signed as an event of Stripe. */
const stripe = z.strictObject({
  /** How many seconds ago. */
  age: z.number().default(0),
  /** The signing secret: one of the installation, or an unknown one. */
  key: z.enum(["own", "another"]).default("own"),
  /** The signed text instead of the body. */
  over: z.string().optional(),
});
export type StripeGiven = z.infer<typeof stripe>;

const expectation = z.strictObject({
  status: z.union([z.int(), z.array(z.int())]),
  headers: z.record(z.string(), z.unknown()).default({}),
  body: z.unknown().optional(),
});
export type Expectation = z.infer<typeof expectation>;

/** A value to open from a response. A folder key is found under its folder's id. */
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
   * The caller: a machine, or a person (`owner`, `member`, `traveller`, `neighbour`, `audited`, or a
   * session of `people`); without it the request is anonymous.
   */
  as: alias.optional(),
  jwt: jwt.optional(),
  headers: z.record(z.string(), text).default({}),
  /** Source addresses by name; by default every request of a case has the same one. */
  from: z.string().optional(),
};
export type Speaker = z.infer<z.ZodObject<typeof speaker>>;

const request = {
  send: text,
  ...speaker,
  /** The header as it is, instead of a machine's token. */
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

/** The default limit in seconds: the "within seconds" of the specification. */
const within = z.number().positive().default(10);

const open = z.strictObject({
  /** The name of the connection in later steps. */
  open: alias,
  ...speaker,
  /** The query. By default the token of `as`, unless `protocols` is given; there it is `${access_token}`. */
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
  /** Messages that do not match this are skipped. */
  which: z.unknown().optional(),
  message: z.unknown(),
  within,
  save: z.record(alias, z.string()).default({}),
});
export type Hear = z.infer<typeof hear>;

/** It must stay open for these seconds. */
const stays = z.strictObject({ stays: alias, for: z.number().positive() });
export type Stays = z.infer<typeof stays>;

const closed = z.strictObject({
  closed: alias,
  code: z.int(),
  within,
  /** No message like this may have come before it, since the last `hear`. */
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

/** The receiver's response to the next requests below a path, instead of a SIEM's. */
const answers = z.strictObject({
  answers: text,
  times: z.int().positive(),
  status: z.int(),
  headers: z.record(z.string(), text).default({}),
  body: z.unknown().optional(),
});

/** The installation sends a matching request to the receiver, below a path. */
const received = z.strictObject({ received: text, request: z.unknown(), within: z.number().positive().default(20) });

/** It has sent no matching request below this path. Without `request` it has sent nothing there. */
const untouched = z.strictObject({ untouched: text, request: z.unknown().default({}) });

const receiverStep = z.union([answers, received, untouched]);
export type ReceiverStep = z.infer<typeof receiverStep>;

const single = z.union([
  z.strictObject({ let: z.record(alias, z.unknown()) }),
  z.strictObject({ pause: z.number().positive() }),
  z.strictObject({ quiet: z.literal(true) }),
  together,
  send,
  receiverStep,
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
   * `forwarded`: several source addresses; `direct`: the runner's own address counts; `stripe`: a
   * signing secret of the installation; `siem`: an organization that may have SIEM endpoints;
   * `receiver`: also an address at which the runner receives deliveries.
   */
  needs: z.enum(["forwarded", "direct", "stripe", "siem", "receiver"]).optional(),
  steps: z.array(step).min(1),
});
export type CaseFile = z.infer<typeof caseFile>;
