import { isIP } from "node:net";

/**
 * What to tell whoever lets other machines in while every base address is this machine's own name for itself, so that
 * the token of no machine elsewhere would be for an address that the service knows; `null` when there is nothing to
 * say.
 */
export function unreachableBaseUrls(host: string, baseUrls: readonly string[]): string | null {
  if (isLoopback(host) || !baseUrls.every((url) => isLoopback(new URL(url).hostname))) return null;
  return (
    `listens on ${host}, but its base addresses are ${baseUrls.join(", ")}: machines elsewhere cannot bootstrap ` +
    "before COFFER_BASE_URL names the address that they use"
  );
}

function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, "$1").toLowerCase();
  return bare === "localhost" || bare === "::1" || (isIP(bare) === 4 && bare.startsWith("127."));
}
