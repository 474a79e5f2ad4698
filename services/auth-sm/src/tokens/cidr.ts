import { BlockList, isIPv4, isIPv6 } from "node:net";
import { z } from "zod";

/**
 * An IPv4 or IPv6 network in CIDR form. The address must be the network's first; an address without
 * a length is a single host.
 */
export const cidrText = z.string().max(64).transform(withLength).refine(isNetwork, "not an IPv4 or IPv6 network");

function withLength(text: string): string {
  if (isIPv4(text)) return `${text}/32`;
  return isIPv6(text) ? `${text}/128` : text;
}

function isNetwork(text: string): boolean {
  const [, address = "", length = ""] = /^([0-9a-fA-F.:]+)\/(0|[1-9][0-9]{0,2})$/.exec(text) ?? [];
  const family = isIPv4(address) ? 4 : isIPv6(address) ? 6 : 0;
  if (family === 0 || Number(length) > (family === 4 ? 32 : 128)) return false;
  // Source addresses are unmapped before the comparison, so a mapped network would match none.
  if (family === 6 && mapped.check(address, "ipv6")) return false;
  const bits = family === 4 ? bitsOfIPv4(address) : bitsOfIPv6(address);
  return !bits.slice(Number(length)).includes("1");
}

const mapped = new BlockList();
mapped.addSubnet("::ffff:0:0", 96, "ipv6");

function bitsOfIPv4(address: string): string {
  return address
    .split(".")
    .map((byte) => Number(byte).toString(2).padStart(8, "0"))
    .join("");
}

function bitsOfIPv6(address: string): string {
  const groups = (part: string): string[] => (part === "" ? [] : part.split(":").flatMap(bitsOfGroup));
  const [head = "", tail] = address.split("::");
  const before = groups(head);
  const after = groups(tail ?? "");
  return [...before, ...Array<string>(8 - before.length - after.length).fill("0".repeat(16)), ...after].join("");
}

/**
 * One group of hexadecimal digits, or the dotted end of an address, which stands for two groups.
 */
function bitsOfGroup(group: string): string[] {
  if (!group.includes(".")) return [Number.parseInt(group, 16).toString(2).padStart(16, "0")];
  const bits = bitsOfIPv4(group);
  return [bits.slice(0, 16), bits.slice(16)];
}
