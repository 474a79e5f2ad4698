/**
 * What an address is compared and remembered by: the names of this machine on one port are one service. Takes an
 * address as `canonicalUrl` gives it.
 */
export function serviceKey(url: string): string {
  return url.replace(/^(https?:\/\/)(?:localhost|\[::1\])(?=[:/]|$)/, "$1127.0.0.1");
}
