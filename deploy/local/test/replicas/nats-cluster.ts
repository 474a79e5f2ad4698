import { natsServerConfig, natsUsers } from "@coffer/bus";
import { serviceNames } from "@coffer/events";
import { freePort } from "@coffer/stores";
import { type TestNats, testNats, type TestScope, type TestServer } from "@coffer/testkit";
import { newPasswords } from "./stores.ts";

export interface NatsCluster extends Pick<TestNats, "credentials"> {
  /** The comma list of all nodes. */
  url: string;
  nodes: TestServer[];
}

/** A cluster of three nodes with the users of an installation. */
export async function natsCluster(t: TestScope): Promise<NatsCluster> {
  const passwords = newPasswords();
  const users = natsUsers(passwords);
  const ports = await Promise.all([1, 2, 3].map(() => freePort()));
  const routes = ports.map((port) => `"nats://127.0.0.1:${port}"`).join(", ");
  const nodes = await Promise.all(
    ports.map((port) => {
      const own = natsServerConfig({ users, host: "127.0.0.1", port: 4222 });
      return testNats(t, {
        config: `${own}\ncluster { name: coffer, listen: "127.0.0.1:${port}", routes: [${routes}] }\n`,
      });
    }),
  );
  return {
    nodes,
    url: nodes.map(({ url }) => url).join(","),
    credentials: Object.fromEntries(
      serviceNames.map((user) => [user, { user, password: passwords[user] }]),
    ) as TestNats["credentials"], // one for each service
  };
}
