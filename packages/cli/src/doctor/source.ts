import { isLoopback, isPrivate } from "./addresses.ts";
import type { Finding } from "./finding.ts";
import { fine, problem, warning } from "./finding.ts";

export interface Seen {
  /** The address from which the service believes that we called. */
  seen: string;
  /** The addresses of this machine. */
  own: readonly string[];
  /** What the service's name stands for; undefined when that is not known. */
  service: string | undefined;
}

const check = "source address";
const trust =
  "limits and the audit log then take everybody behind that proxy for one: set COFFER_TRUSTED_PROXY_CIDRS of the " +
  "services to the proxy's network, and let the proxy set X-Forwarded-For";

/** Judges the source address that the service sees: whether it is ours, or a proxy's in between that it does not know. */
export function judgeSource({ seen, own, service }: Seen): Finding {
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
