/** Replaces a value that must not be shown. */
export const redacted = "[redacted]";

// Each alternative stays inside one JSON string: none matches a quote or a backslash.
const secrets = new RegExp(
  [
    String.raw`\beyJ[\w-]{8,}(?:\.[\w-]*){2,4}`, // JWT and JWE, compact
    String.raw`\b(?:cf[irst]1)_[\w-]{8,}`, // invitations, recovery keys, refresh tokens, one-time tokens
    String.raw`\bwhsec_[\w+/=-]+`, // webhook signing secrets
    String.raw`(?<=[?&;](?:[a-z]+_)?(?:token|code|secret|password|key)=)[^&\s"\\#]+`, // query parameters
    String.raw`(?<=\b(?:Bearer|Basic|Splunk|ApiKey)\s)(?=[^\s"\\]*\d)[\w.~+/=-]{8,}`, // Authorization values
    String.raw`(?<=://)[^\s/"\\@:]*:[^\s/"\\@]+(?=@)`, // user and password in a URL
    String.raw`-----BEGIN [A-Z ]*PRIVATE KEY-----[^"]*`,
  ].join("|"),
  "gi",
);

/** Replaces credentials in a text by `[redacted]`. A line of JSON stays one. */
export function scrub(text: string): string {
  return text.replace(secrets, redacted);
}
