import { isIP } from "node:net";

/**
 * A warning if other machines can connect while every base address is local to this machine: no token of
 * another machine would have a valid audience. Null without one.
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
