import ipaddr from "ipaddr.js";
import { parseAddress } from "./address.ts";
import { createMemo } from "./memo.ts";
import { unknownAddress } from "./source-address.ts";

/**
 * What an address is counted as: itself for IPv4, its /64 for IPv6 (`2001:db8::/64`), since one household or host has a
 * whole /64 to itself. At most 25 characters, whatever comes in; what it returned may be given to it again.
 */
export const bucketAddress: (ip: string) => string = createMemo((ip) => {
  const address = parseAddress(ip.endsWith("/64") ? ip.slice(0, -3) : ip);
  if (address === undefined) return unknownAddress;
  if (address instanceof ipaddr.IPv4) return address.toString();
  return `${new ipaddr.IPv6([...address.parts.slice(0, 4), 0, 0, 0, 0]).toString()}/64`;
});
