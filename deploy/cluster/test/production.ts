import { readFileSync } from "node:fs";
import type { Test } from "tap";
import { playFirstMinute, storedSecret } from "./first-minute.ts";
import { exposure, insideHost, install, storeImages } from "./install.ts";
import { apply, component, helm, kubectl, release, runCronJob } from "./kube.ts";
import { removeOwnStores, secretOf, startOwnStores, storedServices, storesNamespace } from "./own-stores.ts";
import type { Cluster } from "./steps.ts";

const claim = "coffer-backup";
const schemas = storedServices.flatMap(({ schema }) => (schema === null ? [] : [schema]));

/**
 * An installation for production over https, with Postgres, NATS and Redis of another namespace. Its
 * database is backed up, the backup passes the drill, the database is lost and restored in an empty one.
 */
export async function production(t: Test, { options, directory }: Cluster): Promise<void> {
  const { httpsUrl: url = "", authority } = options;
  const images = storeImages(options);
  const stores = await startOwnStores(images);
  t.teardown(removeOwnStores);
  await stores.makeDatabase("coffer");
  await stores.writeSecrets("coffer");
  await apply(
    {
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: claim },
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    },
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "authority" },
      data: { "ca.crt": authority === undefined ? "" : readFileSync(authority, "utf8") },
    },
  );
  t.teardown(() => kubectl(["delete", "persistentvolumeclaim", claim, "--ignore-not-found", "--wait=false"]));
  const values = await valuesFor();
  await install(directory, values);

  const shell = await playFirstMinute(t, { url, authority }, `production-${Date.now()}@example.com`);
  await t.test("helm test reads a secret as the machine of its Secret", async (t) => {
    const stringData = {
      COFFER_CONFIG: shell.machine.replaceAll(url, `https://${insideHost}`),
      COFFER_SMOKE_URI: storedSecret.uri,
    };
    await apply({ apiVersion: "v1", kind: "Secret", metadata: { name: "coffer-smoke" }, stringData });
    t.match(await helm(["test", release, "--timeout", "3m"]), /Phase:\s+Succeeded/);
  });

  await t.test("a backup passes the drill", async (t) => {
    t.match(await runCronJob("coffer-backup", "coffer-backup-now"), `${schemas.length} schemas`);
    t.match(await runCronJob("coffer-restore-drill", "coffer-restore-drill-now"), '"problem":null');
  });

  await t.test("a lost database is restored from the backup", async (t) => {
    const read = `npx coffer read ${storedSecret.uri}`;
    await shell.line(`printf later | npx coffer set coffer://production/later/field/password`);
    await kubectl(["scale", "deployment", "--all", "--replicas=0"]);
    await kubectl(["wait", "--for=delete", "pod", `--selector=${component("auth-sm")}`, "--timeout=2m"]);
    await stores.makeDatabase("restored");
    await stores.writeSecrets("restored");
    t.match(await runCronJob("coffer-restore", "coffer-restore-now"), '"problem":null');
    await t.rejects(runCronJob("coffer-restore", "coffer-restore-again"), "a schema that is not empty is refused");
    await install(directory, values);
    t.equal(await shell.line(read), storedSecret.value);
    await t.rejects(shell.line("npx coffer read coffer://production/later/field/password"), /no such secret/);
    await shell.line("npx coffer audit verify");
  });

  async function valuesFor(): Promise<object> {
    const exposed = (await exposure(options, [`https://${insideHost}`, url])) as {
      networkPolicy: object;
      tests: object;
    };
    const stores = [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": storesNamespace } } }];
    return {
      ...exposed,
      production: true,
      services: Object.fromEntries(storedServices.map(({ name }) => [name, { existingSecret: secretOf(name) }])),
      networkPolicy: { ...exposed.networkPolicy, postgresPeers: stores, natsPeers: stores, redisPeers: stores },
      backup: { enabled: true, existingClaim: claim, image: images.postgres },
      tests: {
        ...exposed.tests,
        ...(authority === undefined ? {} : { caConfigMap: "authority" }),
        smoke: { existingSecret: "coffer-smoke" },
      },
    };
  }
}
