import { chownSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { freePort, serverUser, startRedis, type Store } from "@coffer/stores";
import { makeTestDirectory, removeTestDirectory, type TestScope, until } from "@coffer/testkit";
import { Redis } from "ioredis";

interface Shard {
  primary: Store;
  replica: Store;
}

export interface ShardedCluster {
  /** The URL of the cluster for this user. */
  urlOf(user: string, password: string): string;
  shards: Shard[];
  /** The shard that has a key. */
  shardOf(key: string): Promise<Shard>;
}

const password = "the-password-of-the-owner";
const slots = 16_384;
// Copies go from memory to memory: the server may not write into its folder.
const replication = ["repl-diskless-sync yes", "repl-diskless-sync-delay 0", "repl-diskless-load swapdb"];

/** Three shards, each a primary and a replica that replaces it a second after its end. */
export async function shardedCluster(
  t: TestScope,
  acl: (version: number) => readonly string[],
): Promise<ShardedCluster> {
  const directory = makeTestDirectory();
  const running: Store[] = [];
  const clients: Redis[] = [];
  t.teardown(async () => {
    for (const client of clients) client.disconnect();
    await Promise.all(running.map((store) => store.stop()));
    removeTestDirectory(directory);
  });
  async function start(name: string): Promise<{ store: Store; busPort: number; client: Redis }> {
    const folder = join(directory, name);
    // A node writes what it knows of the others.
    const state = join(directory, `${name}-state`);
    mkdirSync(state, { mode: 0o755 });
    const user = serverUser();
    if (user !== null) chownSync(state, user.uid, user.gid);
    const busPort = await freePort();
    const settings = [
      ...replication,
      `masterauth ${password}`,
      "cluster-enabled yes",
      `cluster-config-file "${join(state, "nodes.conf")}"`,
      `cluster-port ${busPort}`,
      "cluster-node-timeout 1000",
      "cluster-replica-validity-factor 0",
    ];
    const store = await startRedis({ directory: folder, password, acl, settings });
    running.push(store);
    const client = new Redis(store.url);
    client.on("error", () => undefined);
    clients.push(client);
    return { store, busPort, client };
  }
  const pairs = await Promise.all(
    ["a", "b", "c"].map(async (shard) => {
      const [primary, replica] = await Promise.all([start(`${shard}-primary`), start(`${shard}-replica`)]);
      return { primary, replica };
    }),
  );
  const nodes = pairs.flatMap(({ primary, replica }) => [primary, replica]);
  const ask = (client: Redis, ...words: string[]) => client.call("CLUSTER", ...words) as Promise<string>;
  const firstSlot = (index: number): number => Math.floor((slots * index) / pairs.length);
  for (const [index, { primary }] of pairs.entries())
    await ask(primary.client, "ADDSLOTSRANGE", String(firstSlot(index)), String(firstSlot(index + 1) - 1));
  const { client: greeter } = nodes[0] as (typeof nodes)[number]; // there are six
  for (const { store, busPort } of nodes) await ask(greeter, "MEET", "127.0.0.1", String(store.port), String(busPort));
  await until("the nodes know each other", async () => {
    const known = await Promise.all(nodes.map(({ client }) => ask(client, "NODES")));
    return known.every((text) => nodes.every(({ store }) => text.includes(`:${store.port}@`)));
  });
  for (const { primary, replica } of pairs) await ask(replica.client, "REPLICATE", await ask(primary.client, "MYID"));
  await until("the cluster is whole", async () => {
    const states = await Promise.all(nodes.map(({ client }) => ask(client, "INFO")));
    const links = await Promise.all(pairs.map(({ replica }) => replica.client.info("replication")));
    return (
      states.every((text) => text.includes("cluster_state:ok")) &&
      links.every((text) => text.includes("master_link_status:up"))
    );
  });
  const shards = pairs.map(({ primary, replica }) => ({ primary: primary.store, replica: replica.store }));
  const hosts = shards.map(({ primary }) => `127.0.0.1:${primary.port}`).join(",");
  return {
    shards,
    urlOf: (user, secret) => `redis-cluster://${user}:${secret}@${hosts}`,
    async shardOf(key) {
      const slot = Number(await ask(greeter, "KEYSLOT", key));
      const shard = shards[Math.floor((slot * shards.length) / slots)];
      if (shard === undefined) throw new Error(`no shard has the slot ${slot}`);
      return shard;
    },
  };
}
