import { accessTokenPrefix, decodeBase64, encodeBase64, newId, newKeyPair, readAccessToken } from "@coffer/crypto";
import { CofferError } from "./errors.ts";
import { folderJoin, join } from "./histories/join-folder.ts";
import { machineSelf } from "./histories/machine-trust.ts";
import { machineEntries } from "./histories/read-entries.ts";
import { trustedIn, withTrusted } from "./histories/trust-storage.ts";
import { trustOf } from "./machine-configuration.ts";
import type { MachineConfiguration } from "./machine-configuration.ts";
import { machineStore } from "./machine-store.ts";
import type { MachineStore } from "./machine-store.ts";
import { dataOf } from "./secret-store.ts";
import type { SecretStore } from "./secret-store.ts";
import { createTransport } from "./transport.ts";
import type { Transport, TransportOptions } from "./transport.ts";
import type { ClientView, FolderView } from "./views.ts";

export interface BootstrapRequest {
  url: string;
  /** The one-time token as it was shown; not needed to finish a bootstrap whose answer was lost. */
  token?: string | undefined;
  /** What an earlier, unfinished call saved. */
  pending?: MachineConfiguration | undefined;
  /** Keeps the configuration; called before the token is spent, and again with the folder keys. Must be durable. */
  save(configuration: MachineConfiguration): Promise<void>;
  /** Removes what `save` kept: called when the service has refused a first attempt, whose identity nobody knows then. */
  discard?: (() => Promise<void>) | undefined;
}

export interface BootstrapOptions extends Omit<TransportOptions, "url"> {
  /** Unix milliseconds. */
  now?: (() => number) | undefined;
}

/** How far this machine's clock may be from the service's: its tokens carry their time. */
const clockToleranceSeconds = 60;

/**
 * Gives this machine its identity: makes a key pair and a client id, saves them, and only then spends the one-time
 * token, which cannot be had again. When the answer is lost, the next call with the saved configuration finds out by
 * asking as that client, and finishes.
 *
 * Throws CofferError: `configuration` when the clock is wrong or the service does not know the address as its own (before
 * the token is spent), or a token is needed and not given, `invalid_token` when it is used or unknown, `access_denied`
 * away from its addresses, `network` when the answer was lost.
 */
export async function bootstrap(
  request: BootstrapRequest,
  options: BootstrapOptions = {},
): Promise<MachineConfiguration> {
  const now = options.now ?? Date.now;
  const transport = createTransport({ ...options, url: request.url });
  const token = request.token === undefined ? undefined : await readToken(request.token);
  await checkService(transport, now);
  const { pending } = request;
  if (pending !== undefined) {
    const finished = await finish({ ...pending, url: transport.url }, transport, now, request.save);
    if (finished !== undefined) return saved(finished, request);
  }
  if (token === undefined)
    throw new CofferError("configuration", "the service does not know this machine: give the one-time token again");

  const drafted: MachineConfiguration = {
    version: 1,
    ...(pending ?? (await newIdentity(now()))),
    url: transport.url,
    wrap_key: token.wrapKey,
    token_hash: token.tokenHash,
    folders: [],
  };
  await request.save(drafted);
  try {
    await transport.send({
      method: "POST",
      path: "/api/sm/v1/bootstrap",
      body: { token: token.sent, public_key: drafted.public_key, client_id: drafted.client_id },
    });
  } catch (error) {
    if (!(error instanceof CofferError) || !answerIsLost(error)) {
      if (pending === undefined && wasRefused(error)) await request.discard?.();
      throw error;
    }
    const finished = await finish(drafted, transport, now, request.save).catch(() => undefined);
    if (finished !== undefined) return saved(finished, request);
    throw new CofferError("network", `${error.message}; call again with the same configuration, nothing is lost`, {
      cause: error,
    });
  }
  const finished = await finish(drafted, transport, now, request.save);
  if (finished !== undefined) return saved(finished, request);
  throw new CofferError(
    "bad_answer",
    `the service took the token, but no token of this machine for ${transport.url}: COFFER_BASE_URL of the service must ` +
      "name this address; then the same call again, without the one-time token, finishes",
  );
}

/** What is sent of a token, and the wrap key of one that was made on an administrator's machine. */
async function readToken(
  text: string,
): Promise<{ sent: string; wrapKey: string | undefined; tokenHash: string | undefined }> {
  // A token that the service made itself has no prefix and brings no folder keys.
  if (!text.startsWith(accessTokenPrefix)) return { sent: text, wrapKey: undefined, tokenHash: undefined };
  try {
    const { token, wrapKey, tokenHash } = await readAccessToken(text);
    return { sent: token, wrapKey: encodeBase64(wrapKey), tokenHash };
  } catch (cause) {
    throw new CofferError("configuration", (cause as Error).message, { cause });
  }
}

async function newIdentity(
  now: number,
): Promise<Pick<MachineConfiguration, "client_id" | "private_key" | "public_key">> {
  const { publicKey, privateKey } = await newKeyPair();
  return { client_id: newId(now), private_key: encodeBase64(privateKey), public_key: publicKey };
}

async function saved(configuration: MachineConfiguration, request: BootstrapRequest): Promise<MachineConfiguration> {
  await request.save(configuration);
  return configuration;
}

/** Asks the service as the drafted client; undefined when it does not know that client, so the token is not spent. */
async function finish(
  drafted: MachineConfiguration,
  transport: Transport,
  now: () => number,
  save: BootstrapRequest["save"],
): Promise<MachineConfiguration | undefined> {
  const asking = machineStore(drafted, transport, { now });
  let client: ClientView;
  try {
    client = (await asking.send({ method: "GET", path: "/api/sm/v1/client" })).body as ClientView;
  } catch (error) {
    if (error instanceof CofferError && error.code === "invalid_token" && !error.foreign) return undefined;
    throw error;
  }
  if (client.client_id !== drafted.client_id)
    throw new CofferError("bad_answer", "the service took this machine for another one");
  const joined = await joinFolders(drafted, asking, save, (one) => machineStore(one, transport, { now }));
  const folders = await machineStore(joined, transport, { now }).folders(true);
  return {
    ...joined,
    wrap_key: undefined,
    token_hash: undefined,
    application_id: client.application_id,
    org_id: client.org_id,
    folders: folders.map(({ id, name, permission, keyVersion, key }) => ({
      id,
      name,
      permission,
      ...(keyVersion === undefined ? {} : { key_version: keyVersion }),
      key: key === null ? null : encodeBase64(key),
    })),
  };
}

/**
 * Joins the histories of the folders that the token was made for. Each join is saved with what the token brought, until all
 * are stored: a call after a crash goes on from there. A folder that a manager gave the machine meanwhile needs no join.
 */
async function joinFolders(
  drafted: MachineConfiguration,
  { send }: SecretStore,
  save: BootstrapRequest["save"],
  storeOf: (configuration: MachineConfiguration) => MachineStore,
): Promise<MachineConfiguration> {
  const { wrap_key: wrapKey, token_hash: tag } = drafted;
  if (wrapKey === undefined || tag === undefined) return drafted;
  let joined = drafted;
  const refused: { res: `folder:${string}`; error: CofferError }[] = [];
  const views = dataOf(await send({ method: "GET", path: "/api/sm/v1/folders" })) as FolderView[];
  for (const { id } of views.filter((view) => view.history_seq != null)) {
    const res = `folder:${id}` as const;
    const record = trustOf(joined);
    if (trustedIn(record, res) !== undefined) continue;
    const token = { tag, wrapKey: decodeBase64(wrapKey) };
    const self = machineSelf(joined);
    try {
      const trusted = await join(machineEntries(send), res, self, token, undefined, folderJoin(send, id));
      if (trusted === undefined) continue;
      joined = { ...joined, histories: withTrusted(record, res, trusted) };
    } catch (error) {
      if (!(error instanceof CofferError) || error.code !== "join_invalid") throw error;
      refused.push({ res, error });
      continue;
    }
    await save(joined);
  }
  const { histories } = storeOf(joined);
  for (const { res, error } of refused) if (!(await histories.newest(res)).accepted) throw error;
  return joined;
}

/** Whether the token may be spent all the same: a proxy's refusal does not say what became of it. */
function answerIsLost(error: CofferError): boolean {
  return error.foreign || error.code === "network" || error.code === "bad_answer" || (error.status ?? 0) >= 500;
}

/** Whether the service said no, so that the token was not spent by this call. */
function wasRefused(error: unknown): boolean {
  return error instanceof CofferError && error.status !== undefined && [400, 401, 403].includes(error.status);
}

/** Looks for what would make the service refuse this machine's tokens once the one-time token is spent. */
async function checkService(transport: Transport, now: () => number): Promise<void> {
  const { headers, body } = await transport.send({ method: "GET", path: "/.well-known/jwks.json" });
  checkAddress(transport.url, body);
  const there = Date.parse(headers.get("date") ?? "");
  const ahead = Math.round((now() - there) / 1000);
  if (Number.isNaN(ahead) || Math.abs(ahead) <= clockToleranceSeconds) return;
  const wrong = `${Math.abs(ahead)} s ${ahead > 0 ? "ahead of" : "behind"} the service's`;
  throw new CofferError("configuration", `this machine's clock is ${wrong}; set it, the token is not spent`);
}

/** A machine's token is for the address that it uses: the service must know that address as its own. */
function checkAddress(url: string, body: unknown): void {
  const { base_urls: own } = (body ?? {}) as { base_urls?: unknown };
  if (!Array.isArray(own) || own.includes(url)) return;
  throw new CofferError(
    "configuration",
    `the service does not know ${url} as its own address, but ${own.join(", ")}: use one of these, or let ` +
      "COFFER_BASE_URL of the service name this one too; the token is not spent",
  );
}
