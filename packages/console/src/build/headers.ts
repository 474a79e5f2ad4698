import type { ManifestFile } from "./manifest.ts";

/**
 * The page has no network (`connect-src 'none'`): an injected script can neither fetch nor open a socket. Its one
 * worker address comes from the Trusted Types policy `coffer-worker`.
 */
const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "worker-src 'self'",
  "manifest-src 'self'",
  "connect-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types coffer-worker",
].join("; ");

/** The worker speaks to its own origin only. OPAQUE is WebAssembly. */
const workerPolicy = ["default-src 'none'", "script-src 'self' 'wasm-unsafe-eval'", "connect-src 'self'"].join("; ");

const assetPolicy = "default-src 'none'; sandbox";

/** All features that a page can be denied, but writing to the clipboard and passkeys. */
const denied = [
  "accelerometer",
  "autoplay",
  "browsing-topics",
  "camera",
  "clipboard-read",
  "display-capture",
  "encrypted-media",
  "fullscreen",
  "gamepad",
  "geolocation",
  "gyroscope",
  "hid",
  "idle-detection",
  "local-fonts",
  "magnetometer",
  "microphone",
  "midi",
  "payment",
  "picture-in-picture",
  "screen-wake-lock",
  "serial",
  "storage-access",
  "usb",
  "window-management",
  "xr-spatial-tracking",
];
const permissions = [
  ...denied.map((feature) => `${feature}=()`),
  "clipboard-write=(self)",
  "publickey-credentials-create=(self)",
  "publickey-credentials-get=(self)",
].join(", ");

type Headers = Readonly<Record<string, string>>;

/** The headers of every answer of the console, also of refusals. */
export const commonHeaders: Headers = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Permissions-Policy": permissions,
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
};

const unchanging = "public, max-age=31536000, immutable";

/** The headers of a file, besides those that depend on the request. */
export function headersOf({ kind, type }: Pick<ManifestFile, "kind" | "type">): Headers {
  return {
    ...commonHeaders,
    "Content-Type": type,
    "Cache-Control": kind === "page" ? "no-cache" : unchanging,
    "Content-Security-Policy": { page: pagePolicy, worker: workerPolicy, asset: assetPolicy }[kind],
    ...(kind === "page" ? { "Integrity-Policy": "blocked-destinations=(script)" } : {}),
  };
}
