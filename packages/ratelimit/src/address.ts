import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** A parsed address; v4-mapped ones are IPv4 already. */
export type Address = ipaddr.IPv4 | ipaddr.IPv6;

/**
 * Parses an address: four decimal parts, or IPv6, without its zone. Historic IPv4 forms (`127.1`,
 * `0x7f.1`) are undefined.
 */
export function parseAddress(text: string): Address | undefined {
  const plain = withoutZone(text);
  const family = isIP(plain);
  if (family === 4) return ipaddr.IPv4.parse(plain);
  if (family !== 6) return undefined;
  const address = ipaddr.IPv6.parse(plain);
  return address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

function withoutZone(text: string): string {
  const at = text.indexOf("%");
  return at === -1 ? text : text.slice(0, at);
}
