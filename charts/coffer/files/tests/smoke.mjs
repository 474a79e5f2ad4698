// From nothing to a decrypted secret, with the coffer command; or, with COFFER_CONFIG, one secret as a given machine.
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import process from "node:process";

const { COFFER_CLI: program, COFFER_URL: url, COFFER_CONFIG: config, COFFER_SMOKE_URI: uri } = process.env;
const insecure = url.startsWith("http:") ? ["--insecure-http"] : [];

function coffer(args, { input = "", env = {} } = {}) {
  const { status, stdout, stderr, error } = spawnSync(process.execPath, [program, ...words(args)], {
    input,
    encoding: "utf8",
    env: { ...process.env, ...env },
  });
  if (status !== 0) throw new Error(`coffer ${args.join(" ")} ended with ${status}: ${error?.message ?? stderr}`);
  return stdout.trim();
}

/** What the command's own starter puts before its words, so that Node reads none of them. */
function words(args) {
  return ["=", ...args.map((word) => `=${word}`)];
}

function asGivenMachine() {
  if (coffer(["read", uri, ...insecure]) === "") throw new Error(`${uri} is empty`);
  return `${uri} was read and decrypted`;
}

function fromNothing() {
  const name = randomBytes(6).toString("hex");
  const secret = randomBytes(12).toString("hex");
  const env = { COFFER_PASSWORD: randomBytes(18).toString("base64url") };
  const reference = "coffer://smoke/database/field/password";
  const machine = "/tmp/machine.json";
  coffer(["register", "--email", `smoke-${name}@example.com`, "--org", `Smoke ${name}`, ...insecure], { env });
  coffer(["folder", "create", "smoke", ...insecure]);
  coffer(["set", reference, ...insecure], { input: secret });
  coffer(["app", "create", "smoke", ...insecure]);
  const token = coffer(["token", "create", "--app", "smoke", "--folder", "smoke:read", ...insecure]);
  coffer(["bootstrap", "--config", machine, ...insecure], { input: token });
  const read = coffer(["read", reference, "--config", machine, ...insecure]);
  if (read !== secret) throw new Error("the machine read another value than was stored");
  return "a new machine read and decrypted the secret that a new person stored";
}

try {
  process.stdout.write(`${config === undefined ? fromNothing() : asGivenMachine()}\n`);
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
}
