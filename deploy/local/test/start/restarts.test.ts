import t from "tap";
import { testDirectory } from "@coffer/testkit";
import { existsSync } from "node:fs";
import { runFileOf } from "../../src/run-file.ts";
import { living, npmStart, processesOf, until } from "../npm-start.ts";

await t.test("a server that is killed runs again on its port, until it is killed too often", async (t) => {
  const directory = testDirectory(t);
  const started = npmStart(t, { directory });
  const first = await started.ready;
  let killed = first;
  for (let count = 0; count <= 5; count++) {
    const { pid } = (killed = started.state());
    process.kill(pid, "SIGKILL");
    if (count === 5) break;
    await until(() => existsSync(runFileOf(directory)) && started.state().pid !== pid);
    const again = started.state();
    t.equal(again.url, first.url);
    t.equal((await fetch(`${again.url}/.well-known/jwks.json`)).status, 200);
  }
  t.equal(await started.exited, 137);
  t.notOk(existsSync(runFileOf(directory)), "and its file is gone");
  t.match(started.stderr(), /the server is gone \(SIGKILL\); starting it again/);
  t.match(started.stderr(), /giving up after 5 restarts/);
  t.equal(started.stdout().match(/coffer ready at/g)?.length, 1, "said once");
  await until(() => living(processesOf(killed)).length === 0);
});
