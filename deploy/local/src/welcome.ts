import { hash } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";

const style = `
:root { color-scheme: light dark; --line: #8886; --soft: #8881; }
body { margin: 0 auto; max-width: 46rem; padding: 2rem 1rem 3rem; font: 1rem/1.55 system-ui, sans-serif; }
h1 { margin: 0; font-size: 1.75rem; }
h2 { margin: 2rem 0 .5rem; font-size: 1.125rem; }
p { margin: .75rem 0; }
code, pre { font: .875rem/1.5 ui-monospace, "DejaVu Sans Mono", monospace; }
pre { margin: .5rem 0; padding: .625rem .875rem; white-space: pre-wrap; overflow-wrap: anywhere;
  border: 1px solid var(--line); border-radius: .375rem; background: var(--soft); }
.up::before { content: ""; display: inline-block; width: .625rem; height: .625rem; margin-right: .5rem;
  border-radius: 50%; background: #2a9d4a; }
li { margin: .25rem 0; overflow-wrap: anywhere; }
`;

/** No external resource, no script, no framing. */
const policy = [
  "default-src 'none'",
  `style-src 'sha256-${hash("sha256", style, "base64")}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Whether a browser requests the page at `/`. */
export function wantsWelcome({ method, url, headers }: IncomingMessage): boolean {
  if (method !== "GET" && method !== "HEAD") return false;
  return url?.split("?", 1)[0] === "/" && /(^|,)\s*text\/html\s*(;|,|$)/i.test(headers.accept ?? "");
}

/** Answers with a page about this service and the next steps. `address` is that of people and machines. */
export function answerWelcome({ method }: IncomingMessage, response: ServerResponse, address: string): void {
  const page = welcomePage(address);
  response.writeHead(200, {
    "Cache-Control": "no-store",
    "Content-Length": Buffer.byteLength(page),
    "Content-Security-Policy": policy,
    "Content-Type": "text/html; charset=utf-8",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    Vary: "Accept",
    "X-Content-Type-Options": "nosniff",
  });
  response.end(method === "HEAD" ? undefined : page);
}

function welcomePage(address: string): string {
  const lines = [
    `npx coffer register --url ${address} --email you@example.com --org "Example"`,
    "npx coffer folder create production",
    "printf 's3cret' | npx coffer set coffer://production/database/field/password",
  ];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Coffer</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>Coffer</h1>
<p>A self-hosted, zero-knowledge vault for people and machines.</p>
<p class="up">It is running at <code>${escaped(address)}</code>.</p>
<h2>Next, in a terminal</h2>
<p>Run these one by one in the folder where you ran <code>npm start</code>. They make your account, a folder, and a first
secret in it.</p>
${lines.map((line) => `<pre>${escaped(line)}</pre>`).join("\n")}
<h2>Where to read on</h2>
<p>In the same folder:</p>
<ul>
<li><code>README.md</code>: the rest of the first minute</li>
<li><code>docs/cli.md</code>: every command</li>
<li><code>docs/running.md</code>: settings, data, what to do when something is wrong</li>
<li><code>docs/api.md</code>: the HTTP interface below <code>/api</code></li>
</ul>
</main>
</body>
</html>
`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (each) => `&#${String(each.codePointAt(0))};`);
}
