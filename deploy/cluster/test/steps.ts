import { until } from "@coffer/testkit";
import type { Test } from "tap";
import { presentServices } from "../../local/src/services/services.ts";
import { newAccount, newDevice } from "../../local/test/vault-people.ts";
import { playFirstMinute } from "./first-minute.ts";
import { install, stripeSecret } from "./install.ts";
import { component, helm, kubectl, list, podsOf, release, replicas, run } from "./kube.ts";
import { type Load, startLoad } from "./load.ts";
import type { Options } from "./options.ts";
import { production } from "./production.ts";
import { siemDelivery } from "./siem-delivery.ts";

export interface Cluster {
  options: Options;
  /** The values of the installation. */
  values: object;
  directory: string;
}

export interface Step {
  name: string;
  /** Why it cannot be played with these options. */
  skip?: (options: Options) => string | false;
  play: (t: Test, cluster: Cluster) => Promise<unknown>;
}

const services = presentServices().map(({ name }) => name);

/** A new address for this installation. */
const emailOf = (name: string): string => `${name}-${Date.now()}@example.com`;

/** Longer than the usual idle timeout of a proxy: Traefik's is 180 s, nginx' 60 s. */
const idleSeconds = 200;

/** The steps in their order. */
export const steps: readonly Step[] = [
  {
    name: "helm test",
    play: async (t) => {
      t.match(await helm(["test", release, "--timeout", "3m"]), /Phase:\s+Succeeded/);
    },
  },
  { name: "the first minute by HTTPRoute", play: firstMinute },
  { name: "the cases of the specification by HTTPRoute", play: cases },
  {
    name: "a device stays connected, receives a change at once, and reconnects after its pod is gone",
    async play(t, { options }) {
      const session = await newAccount(options.url, emailOf("device"));
      const device = await newDevice(t, options.url, session);
      const { id } = await device.me.vaults.create("Private");
      await new Promise((done) => setTimeout(done, idleSeconds * 1000));
      const write = async (name: string): Promise<void> => {
        await device.me.records.create(id, { type: "login", fields: { name, password: name } });
        await until("the device receives it", () =>
          device.received.some(({ change }) => "record" in change && change.record.fields["name"] === name),
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
      underLoad(t, cluster, "killed", async (load) => {
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
      underLoad(t, cluster, "upgraded", async () => {
        const before = new Set((await podsOf("auth-sm")).map(({ metadata }) => metadata.name));
        await install(cluster.directory, cluster.values, { podAnnotations: { "coffer.dev/upgraded": "once" } });
        const after = await podsOf("auth-sm");
        t.equal(after.filter(({ metadata }) => before.has(metadata.name)).length, 0, "all pods are new");
      }),
  },
  {
    name: "an upgrade and a rollback leave the data",
    async play(t, { options, values, directory }) {
      const session = await newAccount(options.url, emailOf("rolled-back"));
      const device = await newDevice(t, options.url, session);
      await device.me.vaults.create("Private");
      await install(directory, values, { podAnnotations: { "coffer.dev/upgraded": "twice" } });
      await helm(["rollback", release, "--wait", "--timeout", "10m"]);
      t.equal((await device.me.vaults.list()).length, 1);
    },
  },
  {
    name: "replicas follow the load",
    play: (t, cluster) =>
      underLoad(t, cluster, "scaled", async () => {
        const row = { autoscaling: { minReplicas: 2, maxReplicas: 4, targetCpuPercent: 20 } };
        await install(cluster.directory, cluster.values, {
          autoscaling: { enabled: true, scaleDownSeconds: 30 },
          services: { "auth-sm": row },
        });
        const deployments = await list<{ metadata: { name: string }; spec: { replicas: number } }>("deployments");
        t.same(
          deployments
            .filter(({ metadata, spec }) => spec.replicas < 2 && services.some((name) => metadata.name.endsWith(name)))
            .map(({ metadata }) => metadata.name),
          [],
          "none has fewer than minReplicas, also before the HPA acts",
        );
        await until("four replicas", async () => (await podsOf("auth-sm")).length === 4, 300);
        await replicas("auth-sm", 4);
      }),
  },
  { name: "a read of a secret reaches a SIEM of each format, by a plan that Stripe's event sets", play: siemDelivery },
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
    name: "the first minute and the cases of the specification by Ingress",
    async play(t, cluster) {
      const { ingressClass: className, controller } = cluster.options;
      await install(cluster.directory, cluster.values, {
        gateway: { enabled: false },
        ingress: { enabled: true, className, controller },
      });
      await until("the Ingress is served", () => answers(cluster.options.url), 60);
      await firstMinute(t, cluster);
      await cases(t, cluster);
    },
  },
  {
    name: "helm uninstall leaves nothing but the volume of the development database",
    play: uninstall,
  },
  {
    name: "production: own stores over https, a backup, a drill, a restore, and nothing is left",
    skip: ({ httpsUrl }) => httpsUrl === undefined && "needs --https-url",
    async play(t, cluster) {
      await helm(["uninstall", release, "--ignore-not-found", "--wait", "--timeout", "3m"]);
      await production(t, cluster);
      await uninstall(t);
    },
  },
];

async function uninstall(t: Test): Promise<void> {
  await helm(["uninstall", release, "--wait", "--timeout", "3m"]);
  const kinds =
    "all,configmaps,serviceaccounts,networkpolicies,poddisruptionbudgets,ingresses,httproutes,jobs,cronjobs";
  const left = await until(
    "pods to end",
    async () => {
      const found = await list<{ kind: string; metadata: { name: string } }>(
        kinds,
        `app.kubernetes.io/instance=${release}`,
      );
      return found.some(({ kind }) => kind === "Pod") ? undefined : found;
    },
    300,
  );
  t.same(
    left.map(({ kind, metadata }) => `${kind} ${metadata.name}`),
    [],
  );
}

async function firstMinute(t: Test, { options: { url } }: Cluster): Promise<void> {
  await playFirstMinute(t, { url }, emailOf("first-minute"));
}

/**
 * All cases of the specification, through one host name. A limit is exact while Redis answers in time;
 * a replica without an answer counts alone. So failed cases about limits are repeated once.
 */
async function cases(t: Test, { options }: Cluster): Promise<void> {
  const first = await playCases(options.url);
  for (const line of first) if (/^(failed|skipped)/.test(line)) t.comment(line);
  const skipped = first.filter((line) => line.startsWith("skipped")).map((line) => line.split(": ").at(-1));
  t.strictSame(
    new Set(skipped),
    new Set(["needs a run without --forwarded", "needs --receiver"]),
    "nothing else is skipped",
  );
  const failed = first.filter((line) => line.startsWith("failed")).map((line) => line.split(/[ :]+/)[1] ?? "");
  t.same(
    failed.filter((name) => !name.startsWith("limits/")),
    [],
  );
  if (failed.length > 0) t.match((await playCases(options.url, failed)).at(-1), /^\d+ passed, 0 failed$/);
}

/** The output of `npm run cases`, by lines. */
async function playCases(url: string, names: readonly string[] = []): Promise<string[]> {
  const args = ["run", "--silent", "cases", "--", "--url", url, "--forwarded", ...names];
  const env = { COFFER_STRIPE_WEBHOOK_SECRETS: stripeSecret };
  const output = await run("npm", args, { env, codes: [0, 1] });
  return output.trim().split("\n");
}

async function answers(url: string): Promise<boolean> {
  const response = await fetch(`${url}/.well-known/jwks.json`).catch(() => undefined);
  await response?.body?.cancel();
  return response?.status === 200;
}

async function underLoad(t: Test, { options }: Cluster, name: string, play: (load: Load) => Promise<void>) {
  const load = await startLoad(t, options.url, emailOf(name));
  await play(load);
  await load.progress();
  t.same(await load.stop(), [], "acknowledged writes are stored once, and audited");
}
