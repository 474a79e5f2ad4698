import type { Caller } from "../caller.ts";
import { isRepeated, newDeed } from "../ledger.ts";
import { acknowledge, complain, goesOn, hastily, insist, send, type Worker } from "../worker.ts";
import { type Fleet, type Machine, newMachine } from "./fleet.ts";

export interface BootstrapsWorker extends Worker {
  /** The maker of tokens. */
  person: Caller;
  fleet: Fleet;
}

/** Makes one-time tokens, bootstraps a machine with each, and reads with it, until it is stopped. */
export async function bootstrap(worker: BootstrapsWorker): Promise<void> {
  const { url, ledger, fleet } = worker;
  while (goesOn(worker)) {
    const machine = newMachine(url, fleet, ledger);
    fleet.machines.push(machine);
    if ((await issueToken(worker, machine)) && (await spendToken(worker, machine))) await readWith(worker, machine);
  }
}

/** Makes the machine's token; returns whether it certainly exists. */
async function issueToken(worker: BootstrapsWorker, { clientId, tokenHash, sealedKey, issued }: Machine) {
  const { person, fleet } = worker;
  const question = {
    method: "POST",
    path: `/api/org/applications/${fleet.applicationId}/tokens`,
    bearer: person.bearer(),
    body: {
      name: clientId,
      token_hash: tokenHash,
      folders: [{ folder_id: fleet.folderId, permission: "read", encrypted_folder_key: sealedKey }],
    },
  } as const;
  const answer = await insist(worker, () => hastily(worker, question), issued);
  if (answer === undefined) return false;
  // An attempt before this one made the token, and its answer was lost.
  if (answer.status === 409 && isRepeated(issued)) acknowledge(worker, issued);
  if (!issued.acknowledged) complain(worker, `the token of ${clientId}`, answer);
  return issued.acknowledged;
}

/** Spends the token; returns whether the machine is certainly a client. */
async function spendToken(worker: BootstrapsWorker, { clientId, publicKey, token, sealedKey, caller, spent }: Machine) {
  const { ledger, fleet } = worker;
  const body = { token, public_key: publicKey, client_id: clientId };
  const question = { method: "POST", path: "/api/sm/v1/bootstrap", body } as const;
  const answer = await insist(worker, () => hastily(worker, question), spent);
  if (answer === undefined) return false;
  let given: unknown;
  if (answer.status === 401 && isRepeated(spent)) {
    // An earlier attempt spent the token, and its response was lost: the client requests the rest.
    const get = (path: string) => insist(worker, () => ({ method: "GET", path, bearer: caller.bearer() }));
    const own = await get("/api/sm/v1/client");
    const folders = await get("/api/sm/v1/folders");
    if (own === undefined || folders === undefined) return false;
    if (own.body["client_id"] === clientId) acknowledge(worker, spent);
    else complain(worker, `client ${clientId}, whose token is said to be spent,`, own);
    given = (folders.body["data"] as { encrypted_key?: unknown }[] | undefined)?.[0]?.encrypted_key;
  } else {
    if (!spent.acknowledged) complain(worker, `the bootstrap of ${clientId}`, answer);
    given = (answer.body["encrypted_folder_keys"] as Record<string, unknown> | undefined)?.[fleet.folderId];
  }
  if (spent.acknowledged && given !== sealedKey)
    ledger.violations.push(`${worker.name}: ${clientId} was bootstrapped without the folder's key`);
  return spent.acknowledged;
}

async function readWith(worker: BootstrapsWorker, { clientId, caller }: Machine): Promise<void> {
  const { ledger, fleet } = worker;
  const question = { method: "GET", path: caller.secret(fleet.uid), bearer: caller.bearer() } as const;
  const answer = await send(worker, question, newDeed(ledger, "secret.read", fleet.uid));
  if (answer.status !== 200) complain(worker, `the first read of ${clientId}`, answer);
}
