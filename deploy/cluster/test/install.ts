import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { presetValues } from "../../chart/src/render.ts";
import { presentServices } from "../../local/src/services/services.ts";
import { helm, kubectl, listOf, namespace, release, run } from "./kube.ts";
import type { Options } from "./options.ts";
import { type Store, storeImage } from "../../docker/src/store-images.ts";

const chart = new URL("../../../charts/coffer", import.meta.url).pathname;
const command = new URL("../../../packages/cli/bin/coffer.mjs", import.meta.url).pathname;

/** The host name of the gateway for pods. */
export const insideHost = "coffer.cluster.test";

/** A typical namespace of a platform team: Pod Security `restricted`, no traffic between pods. */
export async function makeNamespace(): Promise<void> {
  const labels = Object.fromEntries(
    ["enforce", "warn", "audit"].map((mode) => [`pod-security.kubernetes.io/${mode}`, "restricted"]),
  );
  const objects = [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace, labels } },
    {
      apiVersion: "networking.k8s.io/v1",
      kind: "NetworkPolicy",
      metadata: { name: "default-deny", namespace },
      spec: { podSelector: {}, policyTypes: ["Ingress", "Egress"] },
    },
  ];
  await run("kubectl", ["apply", "--filename", "-"], { input: listOf(objects) });
}

/** Removes the namespace with its content. */
export async function removeNamespace(): Promise<void> {
  await run("kubectl", ["delete", "namespace", namespace, "--ignore-not-found", "--wait", "--timeout=120s"]);
}

/** The values for this cluster, with the development stores. */
export async function valuesFor(options: Options): Promise<object> {
  const images = storeImages(options);
  const store = (name: Store): object => ({ enabled: true, image: images[name] });
  return {
    ...(await exposure(options, [`http://${insideHost}`, options.url])),
    existingSecret: "coffer-dev",
    // Two cores hold the most replicas of a step with one more of each, while an upgrade replaces them.
    services: Object.fromEntries(
      presentServices().map(({ name }) => [name, { resources: { requests: { cpu: "50m" } } }]),
    ),
    billing: { enabled: true },
    dev: { postgres: store("postgres"), nats: store("nats"), redis: store("redis") },
  };
}

/** The images of the stores: those of buildStoreImages, or the chart's. */
export function storeImages({ localImages }: Options): Record<Store, string> {
  const { dev } = presetValues() as { dev: Record<Store, { image: string }> };
  const imageOf = (store: Store): string => (localImages ? storeImage(store) : dev[store].image);
  return { postgres: imageOf("postgres"), nats: imageOf("nats"), redis: imageOf("redis") };
}

/**
 * The values by which the gateway leads to the services at these addresses, from outside and from
 * the cluster.
 */
export async function exposure(options: Options, baseUrls: readonly string[]): Promise<object> {
  const [gatewayNamespace = "", gatewayName = ""] = options.gateway.split("/");
  const [serviceNamespace = "", serviceName = ""] = options.gatewayService.split("/");
  const { address, port } = await gatewayInside(serviceNamespace, serviceName, new URL(baseUrls[0] ?? ""));
  const peers = [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": serviceNamespace } } }];
  return {
    baseUrls,
    trustedProxyCidrs: [options.proxyCidr],
    gateway: {
      enabled: true,
      parentRefs: [{ namespace: gatewayNamespace, name: gatewayName }],
      hostnames: baseUrls.map((url) => new URL(url).hostname),
    },
    networkPolicy: { gatewayPeers: peers },
    tests: { hostAliases: [{ ip: address, hostnames: [insideHost] }], gatewayPeers: peers, gatewayPort: port },
  };
}

interface Service {
  spec: { clusterIP: string; ports: { name?: string; port: number }[] };
}

interface EndpointSlices {
  items: { ports: { name?: string; port: number }[] }[];
}

/**
 * The address of the gateway's Service, and the port of its pods for a URL, which a NetworkPolicy
 * goes by.
 */
async function gatewayInside(
  namespace: string,
  name: string,
  { protocol, port }: URL,
): Promise<{ address: string; port: number }> {
  const get = async (...what: string[]): Promise<unknown> =>
    JSON.parse(await run("kubectl", ["get", ...what, "--namespace", namespace, "--output", "json"]));
  const { spec } = (await get("service", name)) as Service;
  const slices = (await get("endpointslices", "--selector", `kubernetes.io/service-name=${name}`)) as EndpointSlices;
  const called = Number(port) || (protocol === "https:" ? 443 : 80);
  const named = spec.ports.find((each) => each.port === called)?.name;
  const target = slices.items.flatMap(({ ports }) => ports).find((each) => each.name === named);
  if (target === undefined)
    throw new Error(`the Service ${namespace}/${name} has no port ${called} with a pod behind it`);
  return { address: spec.clusterIP, port: target.port };
}

/** Signs the webhooks of the cases about billing. */
export const stripeSecret = "whsec_of_the_cluster_under_test";

/** The Secret of the development stores, as documented, with the signing secret of the webhook. */
export async function makeSecret(): Promise<void> {
  await kubectl(["apply", "--filename", "-"], await run(command, ["dev", "secrets"]));
  const stringData = { "billing-webhook.COFFER_STRIPE_WEBHOOK_SECRETS": stripeSecret };
  await kubectl(["patch", "secret", "coffer-dev", "--patch", JSON.stringify({ stringData })]);
}

/** `helm upgrade --install --wait` with additional values. Returns the notes. */
export async function install(directory: string, values: object, more: object = {}): Promise<string> {
  const files = [values, more].map((each, index) => {
    const file = join(directory, `values-${index}.json`);
    writeFileSync(file, JSON.stringify(each));
    return ["--values", file];
  });
  return helm([
    "upgrade",
    "--install",
    release,
    chart,
    ...files.flat(),
    "--wait",
    "--wait-for-jobs",
    "--timeout",
    "10m",
  ]);
}
