import { type AuditRecord, verifyAuditChain } from "@coffer/events";
import { auditNames, checkChain, type Follow } from "@coffer/sdk/audit";
import { filterOf, type FilterOptions, pagesOf } from "../../audit/audit-filter.ts";
import type { Call, PersonOptions } from "../../command-row.ts";
import { exitCodes, usage } from "../../failure.ts";
import { countOf, print, printJson, printNotice, printTable, shortTime } from "../../output/output.ts";
import { asPerson } from "../../service/access.ts";

interface ListOptions extends PersonOptions, FilterOptions {
  limit?: string;
}

/** The members that are shown; `--json` prints records unchanged. */
interface Shown {
  seq: number;
  time: string;
  action: string;
  outcome: string;
  actor: { type: string; id: string | null };
  target: { type: string; id: string | null };
  source: { ip: string | null };
}

/** `coffer audit ls`: the newest audit records of the organization, in order. */
export async function listAudit({ options, env }: Call<ListOptions>): Promise<void> {
  const limit = Number(options.limit ?? 50);
  if (!Number.isInteger(limit) || limit < 1) throw usage("--limit is a number from 1 up");
  const selected = filterOf(options);
  const person = await asPerson(options, env);
  const records: unknown[] = [];
  const filter = { ...selected, order: "desc" as const, limit: Math.min(limit, 1000) };
  for await (const page of pagesOf(person, filter)) {
    records.push(...page.records);
    if (records.length >= limit) break;
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

interface VerifyOptions extends PersonOptions {
  expect?: string;
}

/**
 * `coffer audit verify`: recomputes the chain over all records, up to the service's head. Exit 1
 * with the position when it is broken or truncated. `--expect SEQ:HASH`, from an earlier run, also
 * detects a truncated or replaced chain whose head the service has changed too.
 */
export async function verifyAudit({ options, env }: Call<VerifyOptions>): Promise<void> {
  const expected = options.expect === undefined ? undefined : expectedHead(options.expect);
  const person = await asPerson(options, env);
  const { head, broken, gaps } = await checkChain(person.audit(), { expected, follow });
  for (const { seq, from, to, count } of gaps)
    printNotice(
      `gap recorded at ${seq}: ${count ?? "some"} events between ${from ?? "?"} and ${to ?? "?"} were not delivered`,
    );
  if (options.json === true) printJson({ whole: broken === undefined, head, broken: broken ?? null, gaps });
  if (broken !== undefined) {
    printNotice(`coffer: the audit chain is broken at record ${broken.seq}: ${broken.problem}`);
    process.exitCode = exitCodes.failure;
  } else if (options.json !== true) print(`${head.seq}:${head.hash}`);
  if (broken === undefined) printNotice(`the audit chain is whole: ${countOf(head.seq, "record")}`);
}

const follow: Follow = (head, record) => verifyAuditChain(head, [record as AuditRecord]); // verified as it is

function expectedHead(text: string): { seq: number; hash: string } {
  const [, seq, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? [];
  if (seq === undefined || hash === undefined) throw usage("--expect is SEQ:HASH, as an earlier run printed it");
  return { seq: Number(seq), hash };
}
