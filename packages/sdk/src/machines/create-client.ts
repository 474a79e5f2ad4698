import type { Fingerprint } from "@coffer/crypto";
import { CofferError } from "../errors.ts";
import { type OfflineOptions, offlineTransport } from "../http/offline-transport.ts";
import { createTransport, type TransportOptions } from "../http/transport.ts";
import { machineFingerprint } from "../people/own-key.ts";
import type { ConfirmKey } from "../people/public-key.ts";
import { checkAnswered, folderAnswered } from "../secrets/answered-notation.ts";
import { parseNotation } from "../secrets/notation.ts";
import { openField } from "../secrets/sealed-secret.ts";
import { type SecretsClient, secretsClient, type SecretsClientOptions } from "../secrets/secrets-client.ts";
import { trustAgain } from "../trust/trust-again.ts";
import type { TrustStorage } from "../trust/trust-storage.ts";
import type { ClientView, NotationView } from "../views.ts";
import { isBootstrapped, type MachineConfiguration, parseConfiguration } from "./machine-configuration.ts";
import { machineStore } from "./machine-store.ts";

export interface ClientOptions extends Omit<TransportOptions, "url">, SecretsClientOptions {
  /**
   * Stores responses, so that the machine can start and run while the service is unavailable. Off
   * by default.
   */
  offline?: OfflineOptions | undefined;
  /** Stores key pins between runs. Without it each run starts from the configuration. */
  trust?: TrustStorage | undefined;
}

/** One field, as the service found it. */
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
  /** The service's data about this machine. */
  client(): Promise<ClientView>;
  /**
   * The fingerprint of the machine's own key, computed from the private key in its configuration.
   */
  fingerprint(): Promise<Fingerprint>;
  /**
   * Requests one field from the service and decrypts it: one request, whatever the number of
   * secrets. Only this field is sent and audited. The response must be of the notation's folder and
   * secret (by uid, or by sealed title); else `bad_answer`.
   */
  resolve(notation: string): Promise<ResolvedField>;
  /**
   * Trusts a folder's history as the service shows it now, after the newest signer's words were
   * compared.
   */
  trustFolder(id: string, confirm: ConfirmKey): Promise<void>;
}

/**
 * Works as the machine of a configuration, or of its JSON text. Throws CofferError `configuration`
 * for an unusable one.
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
  const store = machineStore(parsed, transport, { now: options.now, trust: options.trust });
  return {
    ...secretsClient(store, options),
    url: transport.url,
    client: async () => (await store.send({ method: "GET", path: "/api/sm/v1/client" })).body as ClientView,
    fingerprint: () => machineFingerprint(parsed),
    trustFolder: (id, confirm) => trustAgain(store.histories, `folder:${id}`, confirm),
    async resolve(notation) {
      const named = parseNotation(notation);
      const answer = await store.send({
        method: "POST",
        path: "/api/sm/v1/notation",
        body: { notation },
        repeatable: true,
      });
      const view = answer.body as NotationView;
      const folder = await folderAnswered(store, named, view);
      await checkAnswered(folder, named, view, options.unsealedTitles === true);
      const { uid, title, updated_at } = view;
      const value = await openField(folder, uid, named.field, view.value_encrypted);
      return { uid, folder: view.folder, title, field: named.field, value, updated_at };
    },
  };
}
