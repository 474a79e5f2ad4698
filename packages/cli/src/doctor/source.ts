import { isLoopback, isPrivate } from "./addresses.ts";
import { type Finding, fine, problem, warning } from "./finding.ts";

export interface Seen {
  /** The source address that the service sees. */
  seen: string;
  /** The addresses of this machine. */
  own: readonly string[];
  /** The address of the service's name; undefined when unknown. */
  service: string | undefined;
}

const check = "source address";
const trust =
  "limits and the audit log then treat all clients behind that proxy as one: set COFFER_TRUSTED_PROXY_CIDRS of the " +
  "services (trustedProxyCidrs of the chart) to the proxy's network, and let the proxy set X-Forwarded-For";

/**
 * Checks the source address that the service sees: this machine's, or that of an unknown proxy in
 * between.
 */
export function checkSource({ seen, own, service }: Seen): Finding {
  const isHere = service !== undefined && (isLoopback(service) || own.includes(service));
  if (own.includes(seen) || (isLoopback(seen) && isHere)) return fine(check, `the service sees ${seen}, which is us`);
  if (isLoopback(seen)) return problem(check, `the service sees ${seen}: a proxy on its own machine`, trust);
  if (seen === service) return problem(check, `the service sees ${seen}, which is its own address`, trust);
  if (!isPrivate(seen)) return fine(check, `the service sees ${seen}`);
  if (service !== undefined && !isPrivate(service) && !isHere)
    return problem(
      check,
      `the service sees ${seen}, a private address, although it is reached over the internet`,
      trust,
    );
  return warning(
    check,
    `the service sees ${seen}, which is no address of this machine`,
    `if it is a proxy's, ${trust}; behind a NAT or a VPN it is right`,
  );
}
