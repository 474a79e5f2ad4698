import { Resolver } from "node:dns/promises";
import { readFile } from "node:fs/promises";
import { isIP } from "node:net";

/** The addresses of a name, in the notation of `net`. Rejects when it has none. */
export type Resolve = (host: string) => Promise<string[]>;

const queryMilliseconds = 2_000;
const tries = 2;

/** The name of a host does not lead to an address. */
export class NameNotResolved extends Error {
  constructor(host: string, cause?: unknown) {
    super(`the name ${host} does not resolve`, { cause });
    this.name = "NameNotResolved";
  }
}

export interface ResolveOptions {
  /** `address` or `address:port` of name servers. Default: those of the system. */
  servers?: readonly string[];
  hostsFile?: string;
}

/**
 * Resolves by the hosts file, then by DNS. Every query is its own: `getaddrinfo` would use the few
 * threads of the process, and one slow name server would hold up the connections of all other
 * endpoints. The search list of the system is not applied: names are complete.
 */
export function createResolve({ servers, hostsFile = "/etc/hosts" }: ResolveOptions = {}): Resolve {
  return async (host) => {
    const name = host.toLowerCase().replace(/\.$/, "");
    // RFC 6761, section 6.3.
    if (name === "localhost" || name.endsWith(".localhost")) return ["127.0.0.1", "::1"];
    const listed = await listedIn(hostsFile, name);
    return listed.length > 0 ? listed : query(name, servers);
  };
}

async function query(name: string, servers: readonly string[] | undefined): Promise<string[]> {
  const resolver = new Resolver({ timeout: queryMilliseconds, tries });
  if (servers !== undefined) resolver.setServers(servers);
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  const found = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
  const failed = answers.find((answer) => answer.status === "rejected");
  if (found.length === 0) throw new NameNotResolved(name, failed?.reason);
  return found;
}

async function listedIn(file: string, name: string): Promise<string[]> {
  const text = await readFile(file, "utf8").catch(() => "");
  return text.split("\n").flatMap((line) => {
    const [address = "", ...names] = line.replace(/#.*/, "").trim().toLowerCase().split(/\s+/);
    return isIP(address) !== 0 && names.includes(name) ? [address] : [];
  });
}
