import { type Audit, wasDone } from "../audit.ts";
import { ask, type Caller, demand } from "../caller.ts";
import type { Fleet, Machine } from "./fleet.ts";

interface Token {
  name: string;
  status: string;
}

interface Client {
  client_id: string;
  name: string;
  status: string;
  public_key: string;
}

/**
 * The faults of the fleet. A created token is there once; a spent one is used and has exactly one client,
 * which works; and there are no others.
 */
export async function fleetProblems(url: string, person: Caller, fleet: Fleet, audit: Audit): Promise<string[]> {
  const list = async (what: string): Promise<unknown> => {
    const path = `/api/org/applications/${fleet.applicationId}/${what}`;
    return (await demand(url, { method: "GET", path, bearer: person.bearer() }))["data"];
  };
  const tokens = (await list("tokens")) as Token[]; // both as the interface describes them
  const clients = (await list("clients")) as Client[];
  const problems: string[] = [];
  for (const machine of fleet.machines) {
    const own = {
      tokens: tokens.filter(({ name }) => name === machine.clientId).map(({ status }) => status),
      clients: clients.filter(({ name }) => name === machine.clientId).map(clientText),
    };
    const expected = expectedOf(machine, audit);
    if (JSON.stringify(own) !== JSON.stringify(expected))
      problems.push(`${machine.clientId}: ${JSON.stringify(own)} instead of ${JSON.stringify(expected)}`);
    else if (own.clients.length > 0 && !(await canRead(url, machine, fleet)))
      problems.push(`${machine.clientId} cannot read with its key`);
  }
  const known = new Set(fleet.machines.map(({ clientId }) => clientId));
  const strays = [...tokens, ...clients].filter(({ name }) => !known.has(name)).map(({ name }) => `${name} is unknown`);
  return [...problems, ...strays];
}

function expectedOf({ clientId, publicKey, issued, spent }: Machine, audit: Audit) {
  const used = wasDone(spent, audit);
  return {
    tokens: wasDone(issued, audit) ? [used ? "used" : "unused"] : [],
    clients: used ? [clientText({ client_id: clientId, status: "active", public_key: publicKey })] : [],
  };
}

function clientText({ client_id, status, public_key }: Omit<Client, "name">): string {
  return `${status} ${client_id} ${public_key}`;
}

async function canRead(url: string, { caller }: Machine, { uid, content }: Fleet): Promise<boolean> {
  const { status, body } = await ask(url, { method: "GET", path: caller.secret(uid), bearer: caller.bearer() });
  return status === 200 && body["data_encrypted"] === content;
}
