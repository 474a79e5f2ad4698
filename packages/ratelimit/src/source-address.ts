import type { TrustedProxies } from "./trusted-proxies.ts";

/** For a source without an address (a closed connection): all share one bucket. */
export const unknownAddress = "unknown";

/**
 * The canonical source address: from right to left, the first entry of `X-Forwarded-For` that is
 * not a trusted proxy, starting with the socket's address. If all are trusted, the left-most entry.
 * An invalid entry ends the walk at the last valid one. So only trusted proxies determine the
 * address.
 *
 * `forwardedFor` is the header, its lines joined by commas. Entries may have ports and IPv6
 * brackets.
 */
export function sourceAddress(
  socketAddress: string | undefined,
  forwardedFor: string | undefined,
  trusted: TrustedProxies,
): string {
  const peer = socketAddress === undefined ? undefined : trusted.classify(socketAddress);
  if (peer === undefined) return unknownAddress;
  if (!peer.trusted || forwardedFor === undefined) return peer.text;

  let last = peer.text;
  for (let end = forwardedFor.length; end >= 0;) {
    const comma = end === 0 ? -1 : forwardedFor.lastIndexOf(",", end - 1);
    const entry = trusted.classify(withoutPort(forwardedFor.slice(comma + 1, end).trim()));
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
