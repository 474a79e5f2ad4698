import { isLoopback } from "./addresses.ts";
import { type Finding, fine, problem, warning } from "./finding.ts";
import { type Answer, get, NoAnswer } from "./request.ts";

const keysPath = "/.well-known/jwks.json";
/**
 * A machine's token has an issue time; the service refuses one from further in the future than
 * this.
 */
const skewLimitSeconds = 60;
const skewLookSeconds = 15;

/**
 * The findings about the service at an address; `reached` is false when further requests are
 * useless.
 */
export async function checkService(url: string): Promise<{ findings: Finding[]; reached: boolean }> {
  let answer: Answer;
  try {
    answer = await get(url + keysPath);
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    return {
      findings: [problem("address", `${url} cannot be reached: ${error.message}`, whyAway(error.code))],
      reached: false,
    };
  }
  const stranger = notCoffer(url, answer);
  if (stranger !== undefined) return { findings: [stranger], reached: false };
  const findings = [fine("address", `${url} is a Coffer`)];
  if (url.startsWith("http://") && !isLoopback(new URL(url).hostname))
    findings.push(warning("encryption", `${url} is not https`, "anyone in between can read and use tokens: use https"));
  findings.push(baseUrls(url, answer), clock(answer), limits(answer), await claims(url, answer));
  return { findings, reached: true };
}

function notCoffer(url: string, { status, headers, json }: Answer): Finding | undefined {
  if (isObject(json) && Array.isArray(json["keys"])) return undefined;
  if (status >= 300 && status < 400)
    return problem(
      "address",
      `${url} sends elsewhere: ${headers.get("location") ?? "no address"}`,
      "use that address; redirects are not followed",
    );
  if (isObject(json) && json["error"] === "rate_limited")
    return problem(
      "address",
      `${url} takes no more requests from here now`,
      `try again in ${headers.get("retry-after") ?? "60"} s`,
    );
  if (status >= 500)
    return problem(
      "address",
      `${url} answers ${status}`,
      "its services are starting, or away: see /readyz of the management port (--management)",
    );
  return problem(
    "address",
    `${url} answers ${status}, but not as a Coffer`,
    `look at ${url}${keysPath}: another program, or a proxy without the path table`,
  );
}

function baseUrls(url: string, { json }: Answer): Finding {
  const own = isObject(json) ? json["base_urls"] : undefined;
  if (!Array.isArray(own))
    return warning("base address", "the service does not say its addresses", "it is of an older version: upgrade it");
  if (own.includes(url)) return fine("base address", `the service knows ${url} as its own`);
  return problem(
    "base address",
    `the service does not know ${url} as its own, but ${own.join(", ")}`,
    "machines are refused here: use one of these, or let COFFER_BASE_URL of the services name this one too",
  );
}

function clock({ headers, at }: Answer): Finding {
  const there = Date.parse(headers.get("date") ?? "");
  if (Number.isNaN(there))
    return warning("clock", "the answer has no date", "compare this machine's clock with the service's yourself");
  const ahead = Math.round((at - there) / 1000);
  if (Math.abs(ahead) <= skewLookSeconds) return fine("clock", `${Math.abs(ahead)} s from the service's`);
  const apart = `this machine's clock is ${Math.abs(ahead)} s ${ahead > 0 ? "ahead of" : "behind"} the service's`;
  if (Math.abs(ahead) > skewLimitSeconds)
    return problem("clock", apart, "machines' tokens are refused: set the clock of both by NTP");
  return warning("clock", apart, `more than ${skewLimitSeconds} s, and machines' tokens are refused: set both by NTP`);
}

/** `"user";q=300;w=60` and `"user";r=299;t=60`. */
function limitOf({ headers }: Answer): { limit: number; left: number } | undefined {
  const limit = Number(/;q=(\d+)/.exec(headers.get("ratelimit-policy") ?? "")?.[1]);
  const left = Number(/;r=(\d+)/.exec(headers.get("ratelimit") ?? "")?.[1]);
  return Number.isNaN(limit) || Number.isNaN(left) ? undefined : { limit, left };
}

function limits(answer: Answer): Finding {
  const found = limitOf(answer);
  if (found === undefined)
    return warning(
      "limits",
      "the answer does not say what is left of the rate limit",
      "a proxy removes RateLimit headers: clients then cannot slow down in time",
    );
  const said = `${found.left} of ${found.limit} requests a minute are left to this address`;
  if (found.left * 10 >= found.limit) return fine("limits", said);
  return warning(
    "limits",
    said,
    "others behind the same address use it up, or a proxy hides the addresses of all callers",
  );
}

/**
 * More than the replicas of an installation mostly are: in Redis's first minute each of them counts
 * alone.
 */
const claimCount = 8;

/**
 * Claims new addresses with X-Forwarded-For. A claim that the service ignores counts for this machine, whose
 * rest of the limit then shrinks. Each address that the service believes has the same rest.
 */
async function claims(url: string, before: Answer): Promise<Finding> {
  const check = "forwarded address";
  if (limitOf(before) === undefined) return warning(check, "not tried: the limit is not shown", "see limits");
  const first = Math.floor(Math.random() * 200);
  const lefts: number[] = [];
  for (let turn = 1; turn <= claimCount; turn += 1) {
    const claimed = `198.51.100.${first + turn}`;
    const found = await get(url + keysPath, { "x-forwarded-for": claimed }).then(limitOf, () => undefined);
    if (found === undefined) return warning(check, "a further request was not answered", "run it again");
    lefts.push(found.left);
  }
  if (lefts.every((left) => left === 0))
    return warning(check, "not tried: this address has no request left", "run it again in a minute");
  if (lefts.some((left) => left !== lefts[0]))
    return fine(check, "what a caller says of its own address is not believed");
  return warning(
    check,
    "the service believes any source address that this machine claims",
    "right only where this machine is in the proxy's network: leave other callers out of COFFER_TRUSTED_PROXY_CIDRS " +
      "(trustedProxyCidrs of the chart), and let the proxy replace X-Forwarded-For",
  );
}

function whyAway(code = ""): string {
  if (code === "ECONNREFUSED")
    return "nothing listens there: start the service, or name its address with --url or COFFER_URL";
  if (code === "ENOTFOUND" || code === "EAI_AGAIN")
    return "the name is not known here: look at its spelling and at DNS";
  if (/CERT|SIGNATURE|SSL|TLS/.test(code))
    return "its certificate is not accepted: for an authority of your own set NODE_EXTRA_CA_CERTS to its file";
  return "look at the address, at firewalls and at proxies in between";
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
