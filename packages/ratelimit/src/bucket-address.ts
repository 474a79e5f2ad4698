import ipaddr from "ipaddr.js";
import { parseAddress } from "./address.ts";
import { createMemo } from "./memo.ts";
import { unknownAddress } from "./source-address.ts";

/**
 * The rate limit key of an address: itself for IPv4, its /64 for IPv6 (`2001:db8::/64`), which one
 * household or host has to itself. At most 25 characters. Idempotent.
 */
export const bucketAddress: (ip: string) => string = createMemo((ip) => {
  const address = parseAddress(ip.endsWith("/64") ? ip.slice(0, -3) : ip);
  if (address === undefined) return unknownAddress;
  if (address instanceof ipaddr.IPv4) return address.toString();
  return `${new ipaddr.IPv6([...address.parts.slice(0, 4), 0, 0, 0, 0]).toString()}/64`;
});
