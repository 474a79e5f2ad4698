import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { TOTP, URI } from "otpauth";
import t from "tap";
import { testDirectory } from "@coffer/testkit";
import { command, inherited } from "../../../../packages/cli/test/command.ts";
import { openTerminal } from "../../../../packages/cli/test/output/terminal.ts";
import { type Cli, newCli, password } from "./cli-person.ts";
import { npmStart } from "../npm-start.ts";

const limits = { COFFER_LIMIT_STRICT: "10000", COFFER_LIMIT_STANDARD: "10000", COFFER_LIMIT_USER: "10000" };
const { url } = await npmStart(t, { directory: testDirectory(t), env: limits }).ready;
const uri = "coffer://production/database/field/password";
const secret = { COFFER_PASSWORD: password };
const newPassword = "another horse battery";

/** A registered person with a secret, and the printed recovery key. */
async function person(email: string): Promise<{ cli: Cli; email: string; recoveryKey: string }> {
  const cli = newCli(t, url);
  const recoveryKey = await cli.data(["register", "--email", email, "--org", email], { env: secret });
  await cli.data(["folder", "create", "production"]);
  await cli.data(["set", uri], { input: "s3cret" });
  return { cli, email, recoveryKey };
}

const login = (email: string, env: Record<string, string>, ...more: string[]) => {
  const cli = newCli(t, url);
  return { cli, outcome: cli.run(["login", "--email", email, ...more], { env }) };
};

function fileWith({ home }: Cli, name: string, text: string): string {
  const path = join(home, name);
  writeFileSync(path, `${text}\n`);
  return path;
}

await t.test("only a changed password is valid, and every other session has ended", async (t) => {
  const { cli, email } = await person("change@example.com");
  const other = login(email, secret);
  t.match(await other.outcome, { code: 0 });
  const file = fileWith(cli, "new-password", newPassword);
  const wrong = { env: { COFFER_PASSWORD: "not the password" } };
  t.match(await cli.run(["password", "--new-password-file", file], wrong), { code: 3 });
  t.match(await other.cli.run(["whoami"]), { code: 0 }, "nothing has changed yet");
  const printed = await cli.data(["password", "--new-password-file", file, "--new-recovery-key"], { env: secret });
  t.match(printed, /^cfr1_[\w-]{43}$/);
  t.equal(await cli.data(["read", uri]), "s3cret", "this session goes on");
  t.match(await other.cli.run(["whoami"]), { code: 3 });
  t.match(await login(email, secret).outcome, { code: 3 });
  const again = login(email, { COFFER_PASSWORD: newPassword });
  t.match(await again.outcome, { code: 0 });
  t.equal(await again.cli.data(["read", uri]), "s3cret");
});

await t.test("a lost password is replaced by the recovery key, which is replaced too", async (t) => {
  const { cli, email, recoveryKey } = await person("recover@example.com");
  const fresh = newCli(t, url);
  const recover = (key: string, of = email) =>
    fresh.run(["recover", "--email", of, "--recovery-key-file", fileWith(fresh, "key", key)], {
      env: { COFFER_PASSWORD: newPassword },
    });
  t.match(await recover("cfr1_short"), { code: 2 });
  t.match(await recover(`cfr1_${"A".repeat(43)}`), { code: 3, stderr: /the e-mail or the recovery key is wrong/ });
  t.match(await recover(recoveryKey, "unknown@example.com"), { code: 3 });
  const recovered = await recover(recoveryKey);
  t.match(recovered, { code: 0, stdout: /^cfr1_[\w-]{43}\n$/ });
  t.equal(await fresh.data(["read", uri]), "s3cret");
  t.match(await cli.run(["whoami"]), { code: 3 }, "every other session has ended");
  t.match(await recover(recoveryKey), { code: 3 }, "the old key opens nothing any more");
  t.match(await recover(recovered.stdout.trim()), { code: 0 });
});

await t.test("a second factor is required after its first code, and each code is valid once", async (t) => {
  const { cli, email } = await person("totp@example.com");
  const [, address = ""] = (await cli.data(["totp", "on"], { env: secret })).split("\n");
  t.match(await login(email, secret).outcome, { code: 0 }, "not on yet");
  t.match(await cli.run(["totp", "confirm", "--otp", "000000"]), { code: 2, stderr: /not valid now/ });
  const authenticator = URI.parse(address);
  if (!(authenticator instanceof TOTP)) throw new Error("not the address of a TOTP");
  const codes = (await cli.data(["totp", "confirm", "--otp", authenticator.generate()])).split("\n");
  t.equal(new Set(codes).size, 10);
  t.match(await login(email, secret).outcome, { code: 2, stderr: /--otp/ });
  const [first = "", second = ""] = codes;
  // In the list of processes an unused recovery code would stay visible.
  t.match(await login(email, secret, "--otp", first).outcome, { code: 2, stderr: /--otp-file/ });
  const fileOf = (code: string): string => fileWith(cli, "code", code);
  const admitted = login(email, secret, "--otp-file", fileOf(first));
  t.match(await admitted.outcome, { code: 0 });
  t.equal(await admitted.cli.data(["read", uri]), "s3cret");
  t.match(await login(email, secret, "--otp-file", fileOf(first)).outcome, { code: 3, stderr: /missing or wrong/ });
  t.match(await admitted.cli.run(["totp", "off", "--otp-file", fileOf(first)], { env: secret }), { code: 3 });
  await admitted.cli.data(["totp", "off", "--otp-file", fileOf(second)], { env: secret });
  t.match(await login(email, secret).outcome, { code: 0 });
});

await t.test("a wrong code is reported, and another is requested only at a terminal", async (t) => {
  const { cli, email, recoveryKey } = await person("wrong-code@example.com");
  const [, address = ""] = (await cli.data(["totp", "on"], { env: secret })).split("\n");
  const authenticator = URI.parse(address);
  if (!(authenticator instanceof TOTP)) throw new Error("not the address of a TOTP");
  const codes = (await cli.data(["totp", "confirm", "--otp", authenticator.generate()])).split("\n");
  const [newPasswordFile, keyFile] = [fileWith(cli, "new-password", newPassword), fileWith(cli, "key", recoveryKey)];
  for (const args of [
    ["login", "--email", email, "--otp", "000000"],
    ["login", "--email", email, "--otp-file", fileWith(cli, "wrong", "abcde-fghij")],
    [
      "recover",
      "--email",
      email,
      "--recovery-key-file",
      keyFile,
      "--password-file",
      newPasswordFile,
      "--otp",
      "000000",
    ],
    ["password", "--new-password-file", newPasswordFile, "--otp", "000000"],
    ["totp", "on", "--otp", "000000"],
    ["totp", "off", "--otp", "000000"],
    ["travel", "off", "--otp", "000000"],
  ]) {
    const said = {
      code: 3,
      stdout: "",
      stderr: /^coffer: (the service says: )?the code of the second factor[^\n]* missing or wrong\n$/,
    };
    t.match(await cli.run(args, { env: secret }), said, args.join(" "));
  }
  const line = `'${process.execPath}' '${command}' login --email ${email} --otp 000000 --url ${url}`;
  const home = testDirectory(t);
  const env = { ...inherited(), ...secret, TERM: "xterm", HOME: home, XDG_CONFIG_HOME: home };
  const terminal = openTerminal(t, line, env);
  await terminal.shows(/That code was wrong or used before\. Another: $/);
  terminal.type(`${codes[0] ?? ""}\n`);
  t.match(await terminal.end(), `logged in as ${email}`);
});
