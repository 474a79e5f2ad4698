import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import t from "tap";
import { isAlive, tiedToThisProcess } from "@coffer/stores";
import { testDirectory, until } from "@coffer/testkit";
import { connect } from "../../../packages/tools/cases/src/connection.ts";
import { chooseCases, readCases } from "../../../packages/tools/cases/src/read-cases.ts";
import { type Result, runCases } from "../../../packages/tools/cases/src/run-cases.ts";
import { checkout } from "../../local/src/checkout.ts";
import { presentServices } from "../../local/src/services/services.ts";
import { type ClusterState, readClusterFile } from "../src/cluster-file.ts";
import { readOptions } from "../src/options.ts";

const linux = process.platform === "linux" ? false : "replicas side by side need the many loopback addresses of Linux";

await t.test("a wrong option is refused by name", (t) => {
  t.throws(() => readOptions(["--replicas", "0"]), /--replicas is a number from 1 to 50, not 0/);
  t.throws(() => readOptions(["--port", "http"]), /--port is a number/);
  t.throws(() => readOptions(["--replica", "3"]), /--replica/);
  t.equal(readOptions(["--help"]), null);
  t.match(readOptions([]), { port: 8081, replicas: 3, data: null });
  t.end();
});

await t.test(
  "npm run cluster serves through nginx, survives the death of a replica, and leaves nothing",
  { skip: linux },
  async (t) => {
    const directory = testDirectory(t);
    const data = `${directory}/data`;
    const args = ["run", "--silent", "cluster", "--", "--port", "0", "--replicas", "2", "--data", data];
    const [program = "", ...rest] = tiedToThisProcess(["npm", ...args], "SIGTERM");
    const child = spawn(program, rest, { cwd: checkout, stdio: ["ignore", "pipe", "pipe"] });
    const text = { out: "", err: "" };
    child.stdout.on("data", (chunk: Buffer) => (text.out += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (text.err += chunk.toString()));
    const exited = once(child, "close").then(([code]) => code as number | null);
    t.teardown(async () => {
      child.kill("SIGTERM");
      await exited;
    });
    await until(
      "it is ready, or has ended",
      () => text.out.includes("coffer ready at ") || child.exitCode !== null,
      300,
    );
    t.equal(child.exitCode, null, "it has not ended");
    const state = (): ClusterState => {
      const found = readClusterFile(data);
      if (found === null) throw new Error(`no cluster.json: ${text.err}`);
      return found;
    };
    const first = state();
    const { url } = first;
    t.equal(text.out, `coffer ready at ${url}\n`);

    await t.test("each service has its replicas, each at its own address", (t) => {
      for (const { name } of presentServices())
        t.equal(first.replicas.filter(({ service }) => service === name).length, 2, name);
      t.equal(new Set(first.replicas.map((each) => each.url)).size, first.replicas.length);
      t.ok(first.replicas.every(({ pid }) => isAlive(pid)));
      t.end();
    });

    const playCases = async (...names: string[]): Promise<string[]> => {
      const { shop, cases } = await readCases(fileURLToPath(new URL("../../../docs/spec/cases/", import.meta.url)));
      const results: Result[] = [];
      await runCases({
        connection: connect({ url, forwarded: true }),
        audience: url,
        stripeSecret: undefined,
        shop,
        cases: chooseCases(cases, names),
        onResult: (result) => results.push(result),
      });
      return results.map(({ name, outcome, reason = "" }) => `${outcome} ${name}${reason}`);
    };

    await t.test("cases pass through nginx, also those of the WebSocket", async (t) => {
      const lines = await playCases("bootstrap/folder-keys-open-with-the-token", "sync/ended-session-is-closed");
      t.equal(lines.length, 2);
      for (const line of lines) t.match(line, /^passed /);
    });

    await t.test("a killed replica is skipped, and starts again", async (t) => {
      const victim = first.replicas.find(({ service }) => service === "auth-sm");
      if (victim === undefined) throw new Error("auth-sm has no replica");
      process.kill(victim.pid, "SIGKILL");
      const statuses = new Set<number>();
      for (let requests = 0; requests < 50; requests += 1) {
        const answer = await fetch(`${url}/.well-known/jwks.json`);
        await answer.arrayBuffer();
        statuses.add(answer.status);
      }
      t.same([...statuses], [200], "no request meets the dead replica");
      const again = (): boolean =>
        state().replicas.some((each) => each.url === victim.url && each.pid !== victim.pid && isAlive(each.pid));
      await until("another process is at its address", again, 60);
      const ready = (): Promise<boolean> =>
        fetch(`${victim.management_url}/readyz`).then(
          async (answer) => {
            await answer.arrayBuffer();
            return answer.status === 200;
          },
          () => false,
        );
      t.ok(await until("it is ready", ready, 60));
    });

    await t.test("SIGTERM ends everything", async (t) => {
      const { pid, nginx_pid: nginxPid, replicas, store_pids: storePids } = state();
      const all = [pid, nginxPid, ...replicas.map((each) => each.pid), ...Object.values(storePids)];
      child.kill("SIGTERM");
      t.equal(await exited, 0, `it ended with 0: ${text.err}`);
      t.same(all.filter(isAlive), []);
      t.equal(readClusterFile(data), null);
    });
  },
);
