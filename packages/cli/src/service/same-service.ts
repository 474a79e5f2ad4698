/**
 * The key by which addresses are compared and stored: all loopback names with one port are one
 * service. Expects an address of `canonicalUrl`.
 */
export function serviceKey(url: string): string {
  return url.replace(/^(https?:\/\/)(?:localhost|\[::1\])(?=[:/]|$)/, "$1127.0.0.1");
}
