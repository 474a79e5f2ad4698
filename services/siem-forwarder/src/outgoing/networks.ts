import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** Which addresses an endpoint may have. */
export interface Networks {
  /**
   * Whether a connection to this address is allowed. `http` is allowed only inside networks that
   * the operator names.
   */
  allows(address: string, protocol: "http:" | "https:"): boolean;
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = readonly [network: Address, bits: number];

/**
 * Private, loopback, link-local, metadata, multicast and reserved networks, and those that embed an
 * IPv4 address.
 */
const denied: readonly Range[] = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "168.63.129.16/32", // Azure's platform address: https://learn.microsoft.com/azure/virtual-network/what-is-ip-address-168-63-129-16
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "224.0.0.0/4",
  "240.0.0.0/4",
  "::/96",
  "::ffff:0:0/96",
  "::ffff:0:0:0/96",
  "64:ff9b::/96",
  "64:ff9b:1::/48",
  "2001::/32",
  "2002::/16",
  "fc00::/7",
  "fe80::/10",
  "fec0::/10",
  "ff00::/8",
].map(rangeOf);

/** @param allowedCidrs networks of the operator (`COFFER_SIEM_ALLOWED_CIDRS`) */
export function createNetworks(allowedCidrs: readonly string[]): Networks {
  const allowed = allowedCidrs.map(rangeOf);
  return {
    allows(text, protocol) {
      const address = parse(text);
      if (address === null) return false;
      const [plain, ...embedding] = [address, ...embedded(address)];
      if (allowed.some((range) => [plain, ...embedding].some((each) => isWithin(each, range)))) return true;
      return protocol === "https:" && !denied.some((range) => isWithin(address, range));
    },
  };
}

/**
 * The IPv4 address inside a mapped (`::ffff:0:0/96`), NAT64 (`64:ff9b::/96`) or 6to4 (`2002::/16`)
 * address.
 */
function embedded(address: Address): ipaddr.IPv4[] {
  if (!(address instanceof ipaddr.IPv6)) return [];
  const bytes = address.toByteArray();
  const starts = (prefix: readonly number[]): boolean => prefix.every((byte, index) => bytes[index] === byte);
  const mapped = starts([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]);
  const nat64 = starts([0x00, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0]);
  if (mapped || nat64) return [new ipaddr.IPv4(bytes.slice(12))];
  return starts([0x20, 0x02]) ? [new ipaddr.IPv4(bytes.slice(2, 6))] : [];
}

function parse(text: string): Address | null {
  const family = isIP(text);
  // A zone names an interface of this machine.
  if (family === 0 || text.includes("%")) return null;
  return family === 4 ? ipaddr.IPv4.parse(text) : ipaddr.IPv6.parse(text);
}

function rangeOf(cidr: string): Range {
  const [text = "", bits] = cidr.split("/");
  const address = parse(text);
  if (address === null) throw new TypeError(`${JSON.stringify(cidr)} is not a network`);
  return [address, bits === undefined ? address.toByteArray().length * 8 : Number(bits)];
}

function isWithin(address: Address, [network, bits]: Range): boolean {
  if (address instanceof ipaddr.IPv4) return network instanceof ipaddr.IPv4 && address.match(network, bits);
  return network instanceof ipaddr.IPv6 && address.match(network, bits);
}
