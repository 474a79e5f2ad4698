import { readFileSync } from "node:fs";
import { until } from "@coffer/testkit";
import type { Test } from "tap";
import { newMachine, newPerson } from "../../local/test/cli/cli-person.ts";
import { install, stripeSecret } from "./install.ts";
import { kubectl, namespace, podsOf } from "./kube.ts";
import type { Cluster } from "./steps.ts";

const name = "siem-receiver";
const port = 8088;
const receiver = readFileSync(new URL("../../../packages/tools/cases/src/receiver.ts", import.meta.url), "utf8");

/** Prints each request to the receiver as a line of JSON. */
const program = `
import { startReceiver } from "/receiver/receiver.ts";
const { requests } = await startReceiver("http://0.0.0.0:${port}");
let printed = 0;
setInterval(() => {
  for (; printed < requests.length; printed += 1)
    console.log(JSON.stringify({ at: Date.now(), path: requests[printed].path, body: requests[printed].body }));
}, 10);
`;

interface Delivery {
  /** When it arrived, in milliseconds since 1970, by the clock of the node. */
  at: number;
  path: string;
  body: unknown;
}

/**
 * An organization buys the plan business, names a SIEM of each format, and a machine reads a secret:
 * the record reaches all four. They are one pod in the namespace.
 */
export async function siemDelivery(t: Test, { options, values, directory }: Cluster): Promise<void> {
  const address = await startPod();
  t.teardown(() => kubectl(["delete", "pod,configmap,networkpolicy", name, "--ignore-not-found", "--wait=false"]));
  await install(directory, values, { siem: { allowedCidrs: [`${address}/32`] } });
  const person = await newPerson(t, options.url, `siem-${Date.now()}@example.com`);
  const [{ id }] = JSON.parse(await person.data(["org", "ls", "--json"])) as [{ id: string }];
  const event = ["dev", "stripe-event", "customer.subscription.created", "--org", id];
  await person.data(event, { env: { COFFER_STRIPE_WEBHOOK_SECRETS: stripeSecret } });

  const at = `http://${address}:${port}`;
  const azure = { tenant_id: "t", client_id: "c", client_secret: "s", dcr_id: "dcr-1", stream: "Custom-Coffer" };
  const endpoints = [
    ["hec", `${at}/hec/`, { token: "token" }],
    ["log_analytics", `${at}/azure`, { ...azure, login_url: `${at}/azure` }],
    ["logs_intake", `${at}/datadog/`, { api_key: "key" }],
    ["ecs", `${at}/elastic/_bulk`, { api_key: "key" }],
  ] as const;
  for (const [format, url, credentials] of endpoints) {
    const create = ["siem", "create", "--format", format, "--to", url, "--name", format];
    await until("the plan has come", async () => {
      const { code, stderr } = await person.run(create, { input: JSON.stringify(credentials) });
      if (code !== 0 && !stderr.includes("plan")) throw new Error(stderr);
      return code === 0;
    });
    t.equal((await person.run(["siem", "test", format])).code, 0, `${format} takes the test event`);
  }
  await person.data(["folder", "create", "production"]);
  const secret = "coffer://production/database/field/password";
  await person.data(["set", secret], { input: "s3cret" });
  await person.data(["app", "create", "api"]);
  const machine = await newMachine(person, "api", ["production:read"]);
  const { client_id: clientId } = JSON.parse(readFileSync(machine, "utf8")) as { client_id: string };
  t.equal(await person.data(["read", "--config", machine, secret]), "s3cret");
  const readAt = Date.now();

  for (const [format, url] of endpoints) {
    const { pathname } = new URL(url);
    const { at: arrivedAt, body } = await until(`the read reaches ${format}`, async () =>
      (await deliveries()).find(({ path, body: sent }) => {
        const text = JSON.stringify(sent);
        return path.startsWith(pathname) && text.includes("secret.notation.resolved") && text.includes(clientId);
      }),
    );
    t.comment(`${format}: ${arrivedAt - readAt} ms after the answer to the read`);
    t.notMatch(JSON.stringify(body), "s3cret");
  }
}

async function deliveries(): Promise<Delivery[]> {
  const lines = (await kubectl(["logs", name])).split("\n").filter((line) => line.startsWith("{"));
  return lines.map((line) => JSON.parse(line) as Delivery);
}

/** Starts the receiver in the image of a service. Returns its address. */
async function startPod(): Promise<string> {
  const [pod] = await podsOf("auth-sm");
  const metadata = { name, namespace, labels: { app: name } };
  const restricted = {
    allowPrivilegeEscalation: false,
    capabilities: { drop: ["ALL"] },
    runAsNonRoot: true,
    seccompProfile: { type: "RuntimeDefault" },
  };
  const container = {
    name: "receiver",
    image: pod?.status.containerStatuses?.[0]?.image,
    command: ["node", "--input-type=module", "--eval", program],
    securityContext: restricted,
    readinessProbe: { tcpSocket: { port }, periodSeconds: 1 },
    volumeMounts: [{ name: "program", mountPath: "/receiver" }],
  };
  const objects = [
    { apiVersion: "v1", kind: "ConfigMap", metadata, data: { "receiver.ts": receiver } },
    {
      apiVersion: "v1",
      kind: "Pod",
      metadata,
      spec: {
        automountServiceAccountToken: false,
        terminationGracePeriodSeconds: 1,
        containers: [container],
        volumes: [{ name: "program", configMap: { name } }],
      },
    },
    {
      apiVersion: "networking.k8s.io/v1",
      kind: "NetworkPolicy",
      metadata,
      spec: { podSelector: { matchLabels: { app: name } }, policyTypes: ["Ingress"], ingress: [{ ports: [{ port }] }] },
    },
  ];
  await kubectl(["apply", "--filename", "-"], JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }));
  await kubectl(["wait", "pod", name, "--for=condition=Ready", "--timeout=60s"]);
  return (await kubectl(["get", "pod", name, "--output", "jsonpath={.status.podIP}"])).trim();
}
