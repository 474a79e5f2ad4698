// npm run compose: makes the passwords and settings of the Docker Compose form, and writes its files.
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { checkout } from "../../local/src/checkout.ts";
import { presentServices } from "../../local/src/services/services.ts";
import { caddyFile, composeFile } from "./compose-file.ts";
import { writeSecrets } from "./secrets.ts";

const help = `usage: npm run compose -- --domain NAME
       npm run compose -- --write

Makes deploy/compose/secrets with random passwords, and deploy/compose/.env, for: docker compose up --detach

  --domain NAME  the host name that clients use; Caddy gets its certificate
  --write        writes compose.yaml and Caddyfile from the list of services instead
`;

const folder = resolve(checkout, "deploy/compose");
const rows = presentServices();
const options = { domain: { type: "string" }, write: { type: "boolean" }, help: { type: "boolean" } } as const;

try {
  const { values } = parseArgs({ options });
  if (values.write === true) {
    writeFileSync(join(folder, "compose.yaml"), composeFile(rows));
    writeFileSync(join(folder, "Caddyfile"), caddyFile(rows));
  } else if (values.help === true || values.domain === undefined) {
    process.stdout.write(help);
    if (values.help !== true) process.exitCode = 2;
  } else {
    if (!/^[A-Za-z0-9][A-Za-z0-9.-]*$/.test(values.domain)) throw new Error(`${values.domain} is not a host name`);
    const { version } = JSON.parse(readFileSync(join(checkout, "package.json"), "utf8")) as { version: string }; // ours
    writeSecrets(folder, rows, { domain: values.domain, version });
    process.stdout.write(`written: ${join(folder, "secrets")} and .env\n`);
  }
} catch (error) {
  process.stderr.write(`compose: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
