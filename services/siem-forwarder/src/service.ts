import { buildService, createServiceBase, createUsers } from "@coffer/service";
import type { ServiceInstance, Shared } from "@coffer/service";
import type { Config } from "./config.ts";
import type { Deps } from "./deps.ts";
import { migrations, schema } from "./migrate.ts";
import { answerRequests } from "./replies.ts";
import { routes } from "./routes.ts";

/** Builds the service by hand from its configuration; it listens nowhere yet, and its stores may be away. */
export function createService(config: Config, shared: Shared = {}): ServiceInstance {
  const base = createServiceBase({ name: "siem-forwarder", config, schema, migrations, shared });
  const users = createUsers(base);
  const deps: Deps = { ...base, users };
  answerRequests(deps);
  return buildService(base, {
    routes,
    deps,
    close() {
      users.close();
      return Promise.resolve();
    },
  });
}
