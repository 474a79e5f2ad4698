import type { TestScope } from "@coffer/testkit";
import { type Cli, newMachine, newPerson } from "../cli/cli-person.ts";
import { type Fleet, newFleet } from "./bootstraps/fleet.ts";
import { bootstrap } from "./bootstraps/worker.ts";
import { type Caller, configuredMachine, personCaller } from "./caller.ts";
import { type Ledger, newLedger } from "./ledger.ts";
import { type Member, newMember } from "./logins/member.ts";
import { logIn } from "./logins/worker.ts";
import type { Slot } from "./secrets/slot.ts";
import { read, write } from "./secrets/workers.ts";
import type { Worker } from "./worker.ts";

/** The load of an organization, and its results. */
export interface Organization {
  cli: Cli;
  /** Its owner. */
  person: Caller;
  ledger: Ledger;
  writers: Caller[];
  readers: Caller[];
  /** The secrets that they write and read. */
  slots: Slot[];
  /** The fleet of machines that bootstrap. */
  fleet: Fleet;
  /** The member who logs in and out. */
  member: Member;
}

/** An organization without load; the e-mail is its owner's. */
export async function newOrganization(t: TestScope, url: string, email: string): Promise<Organization> {
  const cli = await newPerson(t, url, email);
  await cli.data(["folder", "create", "production"]);
  const [folder] = JSON.parse(await cli.data(["folder", "ls", "--json"])) as [{ id: string }];
  await cli.data(["app", "create", "api"]);
  const person = personCaller(cli, folder.id);
  const machine = async (permission: string) =>
    configuredMachine(await newMachine(cli, "api", [`production:${permission}`]), url, folder.id);
  const writers = [person, await machine("write")];
  const readers = [person, await machine("read")];
  const fleet = await newFleet(url, person);
  const member = await newMember(url, cli, `member-of-${email}`);
  return { cli, person, ledger: newLedger(), writers, readers, slots: [], fleet, member };
}

/**
 * Starts all workers; `worker` makes the worker of a name. Each promise resolves when its worker
 * has stopped.
 */
export function work(
  { person, writers, readers, slots, fleet, member }: Organization,
  worker: (name: string) => Worker,
): Promise<void>[] {
  return [
    ...writers.map((caller) => write({ ...worker(`write-${caller.kind}`), caller, slots })),
    ...readers.map((caller) => read({ ...worker(`read-${caller.kind}`), caller, slots })),
    bootstrap({ ...worker("bootstrap"), person, fleet }),
    logIn({ ...worker("login"), member }),
  ];
}
