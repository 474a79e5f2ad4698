import { isIP } from "node:net";
import type { Networks } from "./networks.ts";
import type { Resolve } from "./resolve.ts";

/** Every address of a host is one that no endpoint may have. */
export class AddressRefused extends Error {
  constructor(host: string) {
    super(`${host} has no address that an endpoint may have`);
    this.name = "AddressRefused";
  }
}

/** The rules for where requests may go. */
export interface Destinations {
  resolve: Resolve;
  networks: Networks;
}

/**
 * The addresses of a URL's host to which a connection is allowed.
 * @throws NameNotResolved, and AddressRefused when none of its addresses is allowed
 */
export async function allowedAddresses({ resolve, networks }: Destinations, url: URL): Promise<string[]> {
  const protocol = url.protocol === "http:" ? "http:" : "https:";
  const literal = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const addresses = isIP(literal) === 0 ? await resolve(url.hostname) : [literal];
  const allowed = addresses.filter((address) => networks.allows(address, protocol));
  if (allowed.length === 0) throw new AddressRefused(url.hostname);
  return allowed;
}
