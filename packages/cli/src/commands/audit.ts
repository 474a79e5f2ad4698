import { closest } from "@coffer/env";
import { auditActions } from "@coffer/events";
import { CofferError } from "@coffer/sdk";
import { asPerson } from "../access.ts";
import { auditNames } from "../audit-names.ts";
import type { Call, PersonOptions } from "../command-row.ts";
import { exitCodes, usage } from "../failure.ts";
import type { Failure } from "../failure.ts";
import { momentBefore } from "../moment.ts";
import { countOf, print, printJson, printTable, shortTime, tell, visible } from "../output.ts";
import { checkChain } from "../audit-chain.ts";

interface ListOptions extends PersonOptions {
  from?: string;
  to?: string;
  action?: string;
  actor?: string;
  outcome?: string;
  limit?: string;
}

/** Only what is shown; `--json` prints records as they came. */
interface Shown {
  seq: number;
  time: string;
  action: string;
  outcome: string;
  actor: { type: string; id: string | null };
  target: { type: string; id: string | null };
  source: { ip: string | null };
}

/** `coffer audit ls`: the newest audit records of the organization, oldest of them first. */
export async function listAudit({ options, env }: Call<ListOptions>): Promise<void> {
  const limit = Number(options.limit ?? 50);
  if (!Number.isInteger(limit) || limit < 1) throw usage("--limit is a number from 1 up");
  if (options.actor?.includes("@") === true)
    throw usage("--actor is an id: `coffer member ls` shows those of people, `coffer client ls` those of machines");
  const now = Date.now();
  const [from, to] = [options.from, options.to].map((text) =>
    text === undefined ? undefined : momentBefore(now, text),
  );
  const person = await asPerson(options, env);
  const { action, actor: actor_id, outcome } = options;
  const records: unknown[] = [];
  const filter = { from, to, action, actor_id, outcome, order: "desc" as const, limit: Math.min(limit, 1000) };
  try {
    for await (const page of person.audit(filter)) {
      records.push(...page.records);
      if (records.length >= limit) break;
    }
  } catch (error) {
    throw isUnknownAction(error) ? unknownAction(action ?? "") : error;
  }
  const shown = records.slice(0, limit).reverse();
  if (options.json === true) {
    printJson(shown);
    return;
  }
  const rows = shown as Shown[];
  const names = await auditNames(
    person,
    rows.flatMap(({ actor, target }) => [actor, target]),
  );
  const named = ({ type, id }: Shown["actor"]): string =>
    [type, id, id === null ? undefined : names.get(id)].filter((part) => part != null && part !== "").join(" ");
  printTable(
    ["SEQ", "TIME", "ACTION", "OUTCOME", "ACTOR", "TARGET", "FROM"],
    rows.map(({ seq, time, action: done, outcome: how, actor, target, source }) => [
      String(seq),
      shortTime(time),
      done,
      how,
      named(actor),
      named(target),
      source.ip ?? "",
    ]),
  );
}

function isUnknownAction(error: unknown): boolean {
  return error instanceof CofferError && (error.details ?? []).some(({ field }) => field === "action");
}

/** The service's sentence lists every action there is. */
function unknownAction(action: string): Failure {
  return usage(`there is no action ${visible(action)}: the closest are ${closest(action, auditActions, 3).join(", ")}`);
}

interface VerifyOptions extends PersonOptions {
  expect?: string;
}

/**
 * `coffer audit verify`: recomputes the chain over all records, up to the end that the service names. Exit 1 when it is
 * broken or cut short, with the place. `--expect SEQ:HASH`, from an earlier run, also finds records that were cut off
 * together with that word, or all made anew.
 */
export async function verifyAudit({ options, env }: Call<VerifyOptions>): Promise<void> {
  const expected = options.expect === undefined ? undefined : expectedHead(options.expect);
  const person = await asPerson(options, env);
  const { head, broken, gaps } = await checkChain(person.audit(), expected);
  for (const { seq, from, to, count } of gaps)
    tell(
      `gap recorded at ${seq}: ${count ?? "some"} events between ${from ?? "?"} and ${to ?? "?"} were not delivered`,
    );
  if (options.json === true) printJson({ whole: broken === undefined, head, broken: broken ?? null, gaps });
  if (broken !== undefined) {
    tell(`coffer: the audit chain is broken at record ${broken.seq}: ${broken.problem}`);
    process.exitCode = exitCodes.failure;
  } else if (options.json !== true) print(`${head.seq}:${head.hash}`);
  if (broken === undefined) tell(`the audit chain is whole: ${countOf(head.seq, "record")}`);
}

function expectedHead(text: string): { seq: number; hash: string } {
  const [, seq, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (seq === undefined || hash === undefined) throw usage("--expect is SEQ:HASH, as an earlier run printed it");
  return { seq: Number(seq), hash };
}
