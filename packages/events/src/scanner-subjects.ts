import { z } from "zod";
import { everyServiceBut, only, type RpcSubject } from "./subject.ts";

/** The request of the caller on whose behalf a service calls, for the audit. */
const callerRequest = z.object({
  id: z.string(),
  method: z.string(),
  route: z.string(),
  ip: z.string(),
  user_agent: z.string().nullable(),
  time: z.iso.datetime(),
});

/**
 * Authenticates a machine's token and source address, with the checks and audit of the Secrets
 * Manager. The reply is an active client, `invalid_token`, or `access_denied` for a forbidden
 * address.
 */
export const identifyMachine = {
  kind: "rpc",
  subject: "coffer.rpc.auth-sm.identify-machine",
  responder: "auth-sm",
  callers: only("scanner"),
  input: z.object({ token: z.string(), request: callerRequest }),
  output: z.object({ client_id: z.string(), org_id: z.string(), application_id: z.string().nullable() }),
} satisfies RpcSubject<unknown, unknown>;

const mostDocuments = 100;
const utf8 = new TextEncoder();
/** Of texts in one request, as they are sent. Callers cut what is longer, with an overlap. */
const mostBytes = 384 * 1024;

const scanned = z
  .object({
    documents: z
      .array(z.object({ path: z.string(), content: z.string(), encoding: z.enum(["utf8", "base64"]).optional() }))
      .max(mostDocuments)
      .optional(),
    diff: z.string().optional(),
  })
  .refine(({ documents = [], diff = "" }) => {
    const texts = [...documents.map(({ content }) => content), diff];
    return texts.reduce((sum, text) => sum + utf8.encode(text).length, 0) <= mostBytes;
  }, "longer than 384 KiB together");

const location = z.object({
  path: z.string(),
  start_line: z.int(),
  start_column: z.int(),
  end_line: z.int(),
  end_column: z.int(),
});

const finding = z.object({
  kind: z.string(),
  rule_id: z.string(),
  confidence: z.enum(["low", "medium", "high"]),
  locations: z.array(location),
  redacted: z.string(),
  length: z.int(),
  fingerprint: z.string(),
  checksum: z.enum(["valid", "invalid", "none"]),
  account_id: z.string().optional(),
});

/** Finds credentials in texts, and in the added lines of a diff. Stores nothing; findings are redacted. */
export const scanDocuments = {
  kind: "rpc",
  subject: "coffer.rpc.scanner.scan",
  responder: "scanner",
  callers: everyServiceBut("scanner"),
  input: scanned,
  output: z.object({
    findings: z.array(finding),
    summary: z.object({
      findings: z.int(),
      inputs: z.int(),
      bytes: z.int(),
      binary_skipped: z.int(),
      /** False when something was not scanned whole, or not every finding fits into the answer. */
      complete: z.boolean(),
      problems: z.array(z.object({ path: z.string(), message: z.string() })),
    }),
  }),
} satisfies RpcSubject<unknown, unknown>;
