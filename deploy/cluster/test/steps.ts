import { until } from "@coffer/testkit";
import type { Test } from "tap";
import { newAccount, newDevice } from "../../local/test/vault-people.ts";
import { install } from "./install.ts";
import { component, helm, kubectl, list, podsOf, release, replicas, run } from "./kube.ts";
import type { Load } from "./load.ts";
import { startLoad } from "./load.ts";
import type { Options } from "./options.ts";

export interface Cluster {
  options: Options;
  /** The values of the installation. */
  values: object;
  directory: string;
}

export interface Step {
  name: string;
  play: (t: Test, cluster: Cluster) => Promise<unknown>;
}

const services = ["auth-sm", "vaults", "sync", "siem-forwarder"] as const;

/** Longer than a proxy's usual time-out of an idle connection: Traefik's is 180 s, nginx' 60 s. */
const idleSeconds = 200;

/** In the order in which they are played. */
export const steps: readonly Step[] = [
  {
    name: "helm test",
    play: async (t) => {
      t.match(await helm(["test", release, "--timeout", "3m"]), /Phase:\s+Succeeded/);
    },
  },
  { name: "the cases of the specification by HTTPRoute", play: cases },
  {
    name: "a device stays connected, hears of a change at once, and connects again after its pod is gone",
    async play(t, { options }) {
      const session = await newAccount(options.url, "device@example.com");
      const device = await newDevice(t, options.url, session);
      const { id } = await device.me.vaults.create("Private");
      await new Promise((done) => setTimeout(done, idleSeconds * 1000));
      const write = async (name: string): Promise<void> => {
        await device.me.records.create(id, { type: "login", fields: { name, password: name } });
        await until("the device hears of it", () =>
          device.heard.some(({ change }) => "record" in change && change.record.fields["name"] === name),
        );
      };
      await write("after the silence");
      await kubectl(["delete", "pods", "--selector", component("sync"), "--wait=false"]);
      await replicas("sync", 2);
      await write("after the pods are gone");
    },
  },
  {
    name: "pods are killed under load: nothing that was acknowledged is lost",
    play: (t, cluster) =>
      underLoad(t, cluster, "killed@example.com", async (load) => {
        for (const name of services) {
          const [pod] = await podsOf(name);
          await kubectl(["delete", "pod", pod?.metadata.name ?? "", "--grace-period=0", "--force"]);
          await load.progress();
          await replicas(name, 2);
        }
        for (const name of ["nats", "redis", "postgres"]) {
          const [pod] = await podsOf(name);
          await kubectl(["delete", "pod", pod?.metadata.name ?? "", "--wait=false"]);
          await until(`another ${name}`, async () => (await podsOf(name))[0]?.metadata.name !== undefined, 60);
          await load.progress();
        }
      }),
  },
  {
    name: "an upgrade replaces every pod under load",
    play: (t, cluster) =>
      underLoad(t, cluster, "upgraded@example.com", async () => {
        const before = new Set((await podsOf("auth-sm")).map(({ metadata }) => metadata.name));
        await install(cluster.directory, cluster.values, { podAnnotations: { "coffer.dev/upgraded": "once" } });
        const after = await podsOf("auth-sm");
        t.equal(after.filter(({ metadata }) => before.has(metadata.name)).length, 0, "all pods are new");
      }),
  },
  {
    name: "an upgrade and a rollback leave the data",
    async play(t, { options }) {
      const session = await newAccount(options.url, "rolled-back@example.com");
      const device = await newDevice(t, options.url, session);
      await device.me.vaults.create("Private");
      await helm(["rollback", release, "--wait", "--timeout", "5m"]);
      t.equal((await device.me.vaults.list()).length, 1);
    },
  },
  {
    name: "replicas follow the load",
    play: (t, cluster) =>
      underLoad(t, cluster, "scaled@example.com", async () => {
        const row = { autoscaling: { minReplicas: 2, maxReplicas: 4, targetCpuPercent: 20 } };
        await install(cluster.directory, cluster.values, {
          autoscaling: { enabled: true, scaleDownSeconds: 30 },
          services: { "auth-sm": row },
        });
        await until("four replicas", async () => (await podsOf("auth-sm")).length === 4, 300);
        await replicas("auth-sm", 4);
      }),
  },
  {
    name: "network policies refuse what no service needs",
    async play(t) {
      const reaches = async (from: string, host: string, port: number): Promise<boolean> => {
        const program =
          `const s=require("net").connect(${port},"${host}");s.setTimeout(3000,()=>process.exit(1));` +
          `s.on("error",()=>process.exit(1)).on("connect",()=>process.exit(0))`;
        const [pod] = await podsOf(from);
        const args = ["exec", pod?.metadata.name ?? "", "--", "node", "--eval", program];
        return kubectl(args).then(
          () => true,
          () => false,
        );
      };
      t.ok(await reaches("auth-sm", `${release}-postgres`, 5432), "auth-sm reaches Postgres");
      t.ok(await reaches("sync", `${release}-nats`, 4222), "sync reaches NATS");
      t.notOk(await reaches("sync", `${release}-postgres`, 5432), "sync does not reach Postgres");
      t.notOk(await reaches("vaults", `${release}-auth-sm`, 80), "no service reaches another");
      const [other] = await podsOf("auth-sm");
      t.notOk(await reaches("vaults", other?.status.podIP ?? "", 9090), "no pod reaches another's management port");
      t.notOk(await reaches("auth-sm", "kubernetes.default.svc", 443), "no pod reaches the API of the cluster");
    },
  },
  {
    name: "the cases of the specification by Ingress",
    async play(t, cluster) {
      const { ingressClass: className, controller } = cluster.options;
      await install(cluster.directory, cluster.values, {
        gateway: { enabled: false },
        ingress: { enabled: true, className, controller },
      });
      await until("the Ingress is served", () => answers(cluster.options.url), 60);
      await cases(t, cluster);
    },
  },
  {
    name: "no pod was restarted but those that the test killed, and none asked for what it may not",
    async play(t) {
      const pods = (await Promise.all(services.map(podsOf))).flat();
      const restarted = pods.filter(({ status }) => status.containerStatuses?.some((one) => one.restartCount > 0));
      t.same(
        restarted.map(({ metadata }) => metadata.name),
        [],
      );
    },
  },
  {
    name: "helm uninstall leaves nothing but the volume of the development database",
    async play(t) {
      await helm(["uninstall", release, "--wait", "--timeout", "3m"]);
      const kinds = "all,configmaps,serviceaccounts,networkpolicies,poddisruptionbudgets,ingresses,httproutes,jobs";
      const left = await until(
        "pods to end",
        async () => {
          const found = await list<{ kind: string; metadata: { name: string } }>(
            kinds,
            `app.kubernetes.io/instance=${release}`,
          );
          return found.some(({ kind }) => kind === "Pod") ? undefined : found;
        },
        120,
      );
      t.same(
        left.map(({ kind, metadata }) => `${kind} ${metadata.name}`),
        [],
      );
    },
  },
];

/** All cases of the specification, through the one host name. */
async function cases(t: Test, { options }: Cluster): Promise<void> {
  const args = ["run", "--silent", "cases", "--", "--url", options.url, "--forwarded"];
  const output = await run("npm", args).catch((error: unknown) => String(error));
  const lines = output.trim().split("\n");
  for (const line of lines) if (line.startsWith("failed")) t.comment(line);
  t.match(lines.at(-1), /^\d+ passed, 0 failed/);
}

async function answers(url: string): Promise<boolean> {
  const response = await fetch(`${url}/.well-known/jwks.json`).catch(() => undefined);
  await response?.body?.cancel();
  return response?.status === 200;
}

async function underLoad(t: Test, { options }: Cluster, email: string, play: (load: Load) => Promise<void>) {
  const load = await startLoad(t, options.url, email);
  await play(load);
  await load.progress();
  t.same(await load.stop(), [], "what was acknowledged is there, once, and in the audit");
}
