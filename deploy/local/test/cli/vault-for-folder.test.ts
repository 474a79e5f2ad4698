import { join } from "node:path";
import { writeFileSync } from "node:fs";
import t from "tap";
import { testDirectory } from "@coffer/testkit";
import { newPerson, password } from "./cli-person.ts";
import { npmStart } from "../npm-start.ts";

// The errors for a vault in place of a folder, and for a wrong password.

const limits = { COFFER_LIMIT_STRICT: "10000", COFFER_LIMIT_STANDARD: "10000", COFFER_LIMIT_USER: "10000" };
const { url } = await npmStart(t, { directory: testDirectory(t), env: limits }).ready;
const person = await newPerson(t, url, "owner@example.com");
await person.data(["vault", "create", "Home base"]);
await person.data(["folder", "create", "production"]);
const reference = "coffer://home%20base/router/field/password";

await t.test("read, run, env and inject say in one line that it is a vault, and the command to use", async (t) => {
  const template = join(person.home, "template");
  writeFileSync(template, `password: {{ ${reference} }}`);
  const said =
    "coffer: Home base is a vault, and coffer:// names folders: vaults hold people's records, folders hold secrets for " +
    "programs. To read a record: `coffer record get 'Home base' <record>`\n";
  for (const args of [
    ["read", reference],
    ["run", "--", "echo", "started"],
    ["run", "--watch", "--", "echo", "started"],
    ["env"],
    ["env", "--folder", "Home base"],
    ["inject", "-i", template],
  ])
    t.match(
      await person.run(args, { env: { PASSWORD: reference } }),
      { code: 5, stdout: "", stderr: said },
      args.join(" "),
    );
});

await t.test("a name of neither is reported as an unknown folder", async (t) => {
  const neither = await person.run(["read", "coffer://nowhere/router/field/password"]);
  t.match(neither, { code: 5, stderr: /^coffer: there is no folder nowhere that you may use/ });
});

await t.test("a wrong password is reported, with the omitted action", async (t) => {
  const wrong = { env: { COFFER_PASSWORD: `${password}r` } };
  await person.data(["travel", "on"]);
  const off = await person.run(["travel", "off"], wrong);
  t.match(off, { code: 3, stdout: "", stderr: "coffer: the password is not right: travel mode is still on\n" });
  t.match(await person.data(["travel", "status"]), /^on/);
  t.match(await person.run(["totp", "on"], wrong), { code: 3, stderr: /the second factor was not switched on/ });
  t.match(await person.run(["travel", "off"], { env: { COFFER_PASSWORD: password } }), { code: 0 });
});
