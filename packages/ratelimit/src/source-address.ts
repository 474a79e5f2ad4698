import type { TrustedProxies } from "./trusted-proxies.ts";

/** Stands for a source without an address (a connection that is gone): all of them share one bucket. */
export const unknownAddress = "unknown";

/**
 * Where a request came from, canonical: the right-most entry of `X-Forwarded-For` that is no trusted proxy's, as long as
 * every hop to its right is one, the socket's own address first. When all are trusted, the left-most entry. An entry that
 * is no address ends the walk at the last good one. So nobody but a trusted proxy decides about the address.
 *
 * `forwardedFor` is the header as it came, its lines joined by commas. Entries may have ports, IPv6 brackets.
 */
export function sourceAddress(
  socketAddress: string | undefined,
  forwardedFor: string | undefined,
  trusted: TrustedProxies,
): string {
  const peer = socketAddress === undefined ? undefined : trusted.see(socketAddress);
  if (peer === undefined) return unknownAddress;
  if (!peer.trusted || forwardedFor === undefined) return peer.text;

  let last = peer.text;
  for (let end = forwardedFor.length; end >= 0;) {
    const comma = end === 0 ? -1 : forwardedFor.lastIndexOf(",", end - 1);
    const entry = trusted.see(withoutPort(forwardedFor.slice(comma + 1, end).trim()));
    if (entry === undefined) return last;
    if (!entry.trusted) return entry.text;
    last = entry.text;
    end = comma;
  }
  return last;
}

const bracketed = /^\[([^\]]*)\](?::\d{1,5})?$/;
const withColon = /^(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}$/;

function withoutPort(entry: string): string {
  if (entry.startsWith("[")) return bracketed.exec(entry)?.[1] ?? "";
  return withColon.exec(entry)?.[1] ?? entry;
}
