import type { SiemFormat } from "@coffer/contract";
import { ServiceError } from "@coffer/errors";
import type { ErrorDetail } from "@coffer/errors";
import { z } from "zod";

/** Goes into a header: visible ASCII. */
const token = z.string().regex(/^[\x21-\x7e]{1,4096}$/, "must have 1 to 4096 visible ASCII characters");
/** Goes into a JSON body or is encoded. */
const text = (most: number) =>
  z.string().refine((value) => value.length >= 1 && value.length <= most && !/[\p{Cc}\p{Cs}]/u.test(value), {
    message: `must have 1 to ${most} characters, none of them a control character`,
  });
/** A segment of a path: neither `.` nor `..`, nothing to encode. */
const segment = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/, "must have 1 to 128 letters, digits, dots, hyphens or underscores");

/** The fields of credentials. `credentialsOf` names those that a format needs. */
export const givenCredentials = z.object({
  token: token.optional(),
  index: text(255).optional(),
  sourcetype: text(255).optional(),
  tenant_id: segment.optional(),
  client_id: segment.optional(),
  client_secret: token.optional(),
  dcr_id: segment.optional(),
  stream: segment.optional(),
  login_url: z.string().optional(),
  api_key: token.optional(),
  service: text(100).optional(),
  tags: text(1000).optional(),
  username: text(1000)
    .refine((name) => !name.includes(":"), "must not hold a colon")
    .optional(),
  password: text(1000).optional(),
});
export type GivenCredentials = z.infer<typeof givenCredentials>;

export interface HecCredentials {
  token: string;
  index?: string;
  sourcetype?: string;
}
export interface LogAnalyticsCredentials {
  tenant_id: string;
  client_id: string;
  client_secret: string;
  dcr_id: string;
  stream: string;
  login_url?: string;
}
export interface LogsIntakeCredentials {
  api_key: string;
  service?: string;
  tags?: string;
}
export type EcsCredentials = { api_key: string } | { username: string; password: string };

/** The credentials of each format. */
export interface CredentialsByFormat {
  hec: HecCredentials;
  log_analytics: LogAnalyticsCredentials;
  logs_intake: LogsIntakeCredentials;
  ecs: EcsCredentials;
}
export type SiemCredentials = CredentialsByFormat[SiemFormat];

type Member = keyof GivenCredentials;

/** The members of each format: needed ones, and those that may be left out. */
const members: Readonly<Record<SiemFormat, { needed: readonly Member[]; optional: readonly Member[] }>> = {
  hec: { needed: ["token"], optional: ["index", "sourcetype"] },
  log_analytics: { needed: ["tenant_id", "client_id", "client_secret", "dcr_id", "stream"], optional: ["login_url"] },
  logs_intake: { needed: ["api_key"], optional: ["service", "tags"] },
  ecs: { needed: [], optional: ["api_key", "username", "password"] },
};

/**
 * The members that the format uses; others are dropped.
 * @throws ServiceError `invalid_request` that names the missing members
 */
export function credentialsOf(format: SiemFormat, given: GivenCredentials): SiemCredentials {
  const { needed, optional } = members[format];
  const problems: ErrorDetail[] = needed
    .filter((name) => given[name] === undefined)
    .map((name) => ({ field: `credentials.${name}`, issue: `the format ${format} needs it` }));
  if (format === "ecs") problems.push(...ecsProblems(given));
  if (problems.length > 0)
    throw new ServiceError("invalid_request", "the credentials are not those of the format: see details", {
      details: problems,
    });
  const taken = [...needed, ...optional].filter((name) => given[name] !== undefined);
  return Object.fromEntries(taken.map((name) => [name, given[name]])) as unknown as SiemCredentials; // as checked above
}

function ecsProblems({ api_key: apiKey, username, password }: GivenCredentials): ErrorDetail[] {
  if (apiKey !== undefined)
    return username === undefined && password === undefined
      ? []
      : [{ field: "credentials.api_key", issue: "comes without username and password" }];
  if (username === undefined) return [{ field: "credentials", issue: "needs api_key, or username and password" }];
  return password === undefined ? [{ field: "credentials.password", issue: "comes with username" }] : [];
}
