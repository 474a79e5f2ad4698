import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { testDirectory, until } from "@coffer/testkit";
import t from "tap";
import { newPerson } from "./cli-person.ts";
import { npmStart } from "../npm-start.ts";

const events: string[] = [];
let status = 200;
const splunk = createServer((request, response) => {
  let body = "";
  request.on("data", (chunk: Buffer) => (body += chunk.toString()));
  request.on("end", () => {
    const isKnown = request.headers.authorization === "Splunk t0ken-of-splunk";
    if (isKnown && status === 200) events.push(...body.split("\n"));
    response.writeHead(isKnown ? status : 403);
    response.end(JSON.stringify({ code: isKnown ? (status === 200 ? 0 : 9) : 4 }));
  });
});
splunk.listen(0, "127.0.0.1");
await once(splunk, "listening");
t.teardown(() => splunk.close());
const address = `http://127.0.0.1:${(splunk.address() as AddressInfo).port}/`; // a TCP port, not a pipe

const env = { COFFER_SIEM_ALLOWED_CIDRS: "127.0.0.0/8", COFFER_LIMIT_STRICT: "1000", COFFER_LIMIT_USER: "10000" };
const { url } = await npmStart(t, { directory: testDirectory(t), env }).ready;
const alice = await newPerson(t, url, "alice@example.com");
const credentials = JSON.stringify({ token: "t0ken-of-splunk" });

await t.test("an endpoint is made, tested and listed, and records reach it", async (t) => {
  const id = (
    await alice.data(["siem", "create", "--format", "hec", "--to", address, "--name", "Splunk"], { input: credentials })
  ).trim();
  t.match(id, /^[0-9a-f-]{36}$/);
  const tested = await alice.run(["siem", "test", "Splunk"]);
  t.match(tested, { code: 0, stderr: /Splunk took the event/ });
  await alice.data(["folder", "create", "production"]);
  await until("the record arrives", () => events.some((event) => event.includes('"folder.created"')), 60);
  const list = await alice.run(["siem", "ls"]);
  t.match(list, { code: 0, stdout: new RegExp(`^${id}\tSplunk\thec\t${address}\tyes\t`) });
  t.notMatch(list.stdout + list.stderr + events.join(), "t0ken-of-splunk");
});

await t.test("an endpoint is changed, disabled and deleted; what fails has its exit code", async (t) => {
  t.match(await alice.run(["siem", "set", "Splunk", "--disable", "--name", "Old"]), {
    code: 0,
    stderr: /changed.*Old/,
  });
  const [old] = JSON.parse(await alice.data(["siem", "ls", "--json"])) as { name: string; enabled: boolean }[];
  t.match(old, { name: "Old", enabled: false });
  const moved = await alice.run(["siem", "set", "Old", "--to", "https://siem.example/"]);
  t.match(moved, { code: 2, stderr: /credentials: must be sent again.* another scheme, host or port/ });
  status = 503;
  t.match(await alice.run(["siem", "test", "Old"]), { code: 1, stderr: /did not take the event.*503/ });
  status = 200;
  await alice.run(["siem", "set", "Old", "--credentials-file", "-"], { input: JSON.stringify({ token: "wrong" }) });
  t.match(await alice.run(["siem", "test", "Old"]), { code: 1, stderr: /check the token/ });
  t.match(await alice.run(["siem", "set", "Old"]), { code: 2, stderr: /say what to change/ });
  t.match(await alice.run(["siem", "set", "Old", "--enable", "--disable"]), { code: 2 });
  t.match(await alice.run(["siem", "rm", "Nothing"]), { code: 5, stderr: /no SIEM endpoint Nothing/ });
  const create = ["siem", "create", "--format", "hec", "--to"];
  t.match(await alice.run([...create, address], { input: "not json" }), { code: 2, stderr: /must be a JSON object/ });
  t.match(await alice.run([...create, "https://10.0.0.1/"], { input: credentials }), { code: 2, stderr: /private/ });
  t.match(await alice.run(["siem", "rm", "Old"]), { code: 0, stderr: /deleted the SIEM endpoint Old/ });
  t.equal((await alice.data(["siem", "ls", "--json"])).trim(), "[]");
});
