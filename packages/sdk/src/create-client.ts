import { CofferError } from "./errors.ts";
import { requireFolder } from "./fresh-folders.ts";
import { isBootstrapped, parseConfiguration } from "./machine-configuration.ts";
import type { MachineConfiguration } from "./machine-configuration.ts";
import { machineStore } from "./machine-store.ts";
import { offlineTransport } from "./offline-transport.ts";
import type { OfflineOptions } from "./offline-transport.ts";
import { parseNotation } from "./notation.ts";
import { openField } from "./sealed-secret.ts";
import { secretsClient } from "./secrets-client.ts";
import type { SecretsClient, SecretsClientOptions } from "./secrets-client.ts";
import { createTransport } from "./transport.ts";
import type { TransportOptions } from "./transport.ts";
import type { ClientView, NotationView } from "./views.ts";

export interface ClientOptions extends Omit<TransportOptions, "url">, SecretsClientOptions {
  /** Keeps what the machine needs, so that it begins and goes on while the service is away. Not kept unless given. */
  offline?: OfflineOptions | undefined;
}

/** One field, as the service itself found it. */
export interface ResolvedField {
  uid: string;
  folder: string;
  title: string;
  field: string;
  value: string;
  updated_at: string;
}

/** Secrets as a machine. Every method throws CofferError. */
export interface MachineClient extends SecretsClient {
  readonly url: string;
  /** What the service knows of this machine. */
  client(): Promise<ClientView>;
  /**
   * Lets the service find one field, and decrypts it: one request, whatever the number of secrets. Only this one field
   * is sent, and only it is in the audit log. Whether the secret of that title is the right one is the service's word;
   * `read` checks the sealed title itself.
   */
  resolve(notation: string): Promise<ResolvedField>;
}

/**
 * Works as the machine of a configuration, or of its JSON text.
 * Throws CofferError `configuration` when it cannot be used.
 */
export function createClient(configuration: MachineConfiguration | string, options: ClientOptions = {}): MachineClient {
  const parsed = typeof configuration === "string" ? parseConfiguration(configuration) : configuration;
  if (!isBootstrapped(parsed))
    throw new CofferError(
      "configuration",
      "this machine is not bootstrapped yet: run `coffer bootstrap` with its file",
    );
  const reached = createTransport({ ...options, url: parsed.url });
  const transport =
    options.offline === undefined
      ? reached
      : offlineTransport(reached, parsed, options.offline, options.now ?? Date.now);
  const store = machineStore(parsed, transport, options.now);
  return {
    ...secretsClient(store, options),
    url: transport.url,
    client: async () => (await store.send({ method: "GET", path: "/api/sm/v1/client" })).body as ClientView,
    async resolve(notation) {
      const { field } = parseNotation(notation);
      const answer = await store.send({
        method: "POST",
        path: "/api/sm/v1/notation",
        body: { notation },
        repeatable: true,
      });
      const view = answer.body as NotationView;
      if (view.field !== field)
        throw new CofferError("bad_answer", "the service answered another field than asked for");
      let folder = await requireFolder(store, view.folder_id);
      if (folder.keyVersion !== view.key_version) {
        await store.folders(true);
        folder = await requireFolder(store, view.folder_id);
      }
      const value = await openField(folder, view.uid, field, view.value_encrypted);
      return { uid: view.uid, folder: view.folder, title: view.title, field, value, updated_at: view.updated_at };
    },
  };
}
