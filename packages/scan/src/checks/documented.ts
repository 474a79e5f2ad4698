import { createHash } from "node:crypto";

/** The start of SHA-256 of examples that vendors print in their documentation and that no account has. */
const documented: ReadonlySet<string> = new Set([
  "2cd1f6f312c5f208", // Cloudflare API token
  "374b54794dbadf23", // Datadog API key
  "9fd48845a784316d", // Datadog application key
  "02f7ce3c263f85c0", // Discord bot token
  "ac9265e56c79b234", // Google API key
  "02091175c1ae3023", // SendGrid API key
  "2ddc147f3a3b5a17", // Slack bot token
  "78a08441f4314f0a", // Stripe's test key under the live prefix
]);

/** Whether a secret is an example from its vendor's documentation. */
export function isDocumented(secret: string): boolean {
  return documented.has(createHash("sha256").update(secret).digest("hex").slice(0, 16));
}
