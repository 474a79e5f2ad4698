import { newId } from "@coffer/crypto";
import { personClient } from "@coffer/sdk";
import { login, register } from "@coffer/sdk/account";
import { testDirectory } from "@coffer/testkit";
import t from "tap";
import { password } from "../cli/cli-person.ts";
import { npmStart } from "../npm-start.ts";

// An office behind one address, with default limits: five strict requests in any 60 s. Twenty people who
// register and log in within ten minutes need forty of the fifty possible requests, one for each.

const { url } = await npmStart(t, { directory: testDirectory(t) }).ready;
const device = () => ({ id: newId(), name: "test", type: "cli" });
/** Without waits: a refusal is an error. */
const impatient = { attempts: 1 };

await t.test(
  "a registration, with an invitation or without one, and a login each take one strict request",
  async (t) => {
    const email = "owner@example.com";
    const { session } = await register({ url, email, password, device: device(), organization: "Example" }, impatient);
    const owner = personClient(session, url, impatient);
    for (const name of ["anna", "bob"]) {
      const invited = { url, email: `${name}@example.com`, password, device: device() };
      const { token } = await owner.invites.create(invited.email, "member");
      const joined = await register({ ...invited, inviteToken: token }, impatient);
      await personClient(joined.session, url, impatient).invites.accept(token);
    }
    for (let logins = 0; logins < 2; logins += 1) await login({ url, email, password, device: device() }, impatient);
    t.equal((await owner.members.list()).length, 3);
  },
);
