import { ConfigurationError, type Environment, readEnvironment, type VariableName, variables } from "@coffer/env";
import { isLoopback } from "./addresses.ts";
import { type Finding, fine, problem, warning } from "./finding.ts";

type Configuration = Environment<VariableName>;

const names = Object.keys(variables) as VariableName[]; // the keys of the table are its names
const unreadable = "correct it: no service starts with it (npm start -- --help lists every variable)";

/**
 * Reads COFFER_* like the services, and checks for valid but undesirable values. Makes no request.
 */
export function checkServerConfig(env: NodeJS.ProcessEnv): Finding[] {
  const problems = read(env, names, {}).map((each) => problem("configuration", each, unreadable));
  const known = knownIn(env);
  const given: Partial<Configuration> = {};
  // One by one, so that an invalid value hides no other.
  for (const name of names) read(known, [name], given);
  return [
    ...(problems.length > 0
      ? problems
      : [fine("configuration", "every COFFER_* name is known and its value can be used")]),
    ...addresses(given),
    ...proxies(given),
    ...stripe(given),
    ...stores(given),
  ];
}

function addresses({ COFFER_BASE_URL: urls = [], COFFER_HOST: host = "127.0.0.1" }: Partial<Configuration>): Finding[] {
  const check = "base address";
  const plain = urls.filter((url) => url.startsWith("http://") && !isLoopback(new URL(url).hostname));
  const findings = plain.map((url) =>
    warning(
      check,
      `COFFER_BASE_URL: ${url} is not https`,
      "anyone in between can read and use tokens: put TLS in front of it",
    ),
  );
  const [first] = urls;
  if (!isLoopback(host) && urls.every((url) => isLoopback(new URL(url).hostname)))
    findings.push(
      problem(
        check,
        `it listens on ${host}, but no base address is one that other machines use`,
        "set COFFER_BASE_URL to the address that they use: their tokens are for it",
      ),
    );
  if (findings.length === 0 && first !== undefined) findings.push(fine(check, urls.join(", ")));
  return findings;
}

function proxies({
  COFFER_TRUSTED_PROXY_CIDRS: cidrs = [],
  COFFER_BASE_URL: urls = [],
}: Partial<Configuration>): Finding[] {
  const check = "trusted proxies";
  const open = cidrs.filter((cidr) => cidr.endsWith("/0"));
  if (open.length > 0)
    return [
      problem(
        check,
        `${open.join(", ")} trusts every address: any caller chooses its own source address`,
        "name the proxies' networks only",
      ),
    ];
  if (cidrs.length > 0) return [fine(check, cidrs.join(", "))];
  // Coffer does not terminate TLS, so there is a proxy in front of it.
  if (urls.some((url) => url.startsWith("https://")))
    return [
      warning(
        check,
        "none, although https ends before Coffer",
        "set COFFER_TRUSTED_PROXY_CIDRS to the proxy's network, else all callers share its limit",
      ),
    ];
  return [fine(check, "none: the address of the connection is the source")];
}

function stripe({
  COFFER_STRIPE_WEBHOOK_SECRETS: secrets = [],
  COFFER_BILLING: billing,
}: Partial<Configuration>): Finding[] {
  const check = "billing";
  if (billing === "stripe" && secrets.length === 0)
    return [fine(check, "on: plans come from billing-webhook, which needs COFFER_STRIPE_WEBHOOK_SECRETS")];
  if (billing === "off" || secrets.length === 0)
    return [fine(check, "off: every organization has the enterprise plan")];
  const odd = secrets.filter((secret) => !/^whsec_[A-Za-z0-9+/=_-]{16,}$/.test(secret)).length;
  if (odd === 0) return [fine(check, `${secrets.length} signing secrets`)];
  return [
    problem(
      check,
      `${odd} of ${secrets.length} in COFFER_STRIPE_WEBHOOK_SECRETS is no signing secret`,
      "take the endpoint's own, which begins with whsec_; an API key (sk_, rk_) is none",
    ),
  ];
}

function stores(given: Partial<Configuration>): Finding[] {
  const wanted = ["COFFER_POSTGRES_URL", "COFFER_NATS_URL", "COFFER_REDIS_URL"] as const;
  const missing = wanted.filter((name) => given[name] === undefined);
  if (missing.length === 0) return [fine("stores", "Postgres, NATS and Redis are named")];
  return [fine("stores", `npm start brings its own for ${missing.join(", ")}; a service by itself needs them given`)];
}

/** Reads variables into `given`; returns the problems. */
function read(
  env: NodeJS.ProcessEnv,
  wanted: readonly VariableName[],
  given: Partial<Configuration>,
): readonly string[] {
  try {
    Object.assign(given, readEnvironment(env, wanted));
    return [];
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
}

/** The environment without unknown names. */
function knownIn(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const known = new Set<string>(names.flatMap((name) => [name, `${name}_FILE`]));
  return Object.fromEntries(Object.entries(env).filter(([name]) => known.has(name)));
}
