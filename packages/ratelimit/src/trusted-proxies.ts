import ipaddr from "ipaddr.js";
import { type Address, parseAddress } from "./address.ts";
import { createMemo } from "./memo.ts";

/** A canonical address, and whether it is a trusted proxy. */
export interface ClassifiedAddress {
  readonly text: string;
  readonly trusted: boolean;
}

/** The proxies whose `X-Forwarded-For` is trusted. */
export interface TrustedProxies {
  /** Undefined for an invalid address. */
  classify(text: string): ClassifiedAddress | undefined;
}

type Range = readonly [address: Address, bits: number];

/**
 * Parses the trusted networks: `10.0.0.0/8`, `2001:db8::/32`, or a single address.
 * @throws TypeError naming the invalid entry
 */
export function parseTrustedProxies(cidrs: readonly string[]): TrustedProxies {
  const ranges = cidrs.map(parseRange);
  const classify = createMemo((text: string): ClassifiedAddress | undefined => {
    const address = parseAddress(text);
    if (address === undefined) return undefined;
    return { text: address.toString(), trusted: ranges.some((range) => isWithin(address, range)) };
  });
  return { classify };
}

function parseRange(cidr: string): Range {
  const [text = "", bits, ...more] = cidr.trim().split("/");
  const address = parseAddress(text);
  if (address === undefined || more.length > 0) throw new TypeError(`${JSON.stringify(cidr)} is not a network`);
  const width = address.kind() === "ipv4" ? 32 : 128;
  if (bits === undefined) return [address, width];
  // A mapped network has the prefix length of IPv6.
  const count = /^\d{1,3}$/.test(bits) ? Number(bits) - (width === 32 && text.includes(":") ? 96 : 0) : -1;
  if (count < 0 || count > width) throw new TypeError(`${JSON.stringify(cidr)} is not a network`);
  return [address, count];
}

function isWithin(address: Address, [network, bits]: Range): boolean {
  if (address instanceof ipaddr.IPv4) return network instanceof ipaddr.IPv4 && address.match(network, bits);
  return network instanceof ipaddr.IPv6 && address.match(network, bits);
}
