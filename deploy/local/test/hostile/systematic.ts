import { setTimeout as pause } from "node:timers/promises";
import { createRandom } from "@coffer/testkit";
import { collude } from "./collusion.ts";
import { journey } from "./journey.ts";
import { createOracle } from "./oracle.ts";
import { newStage } from "./stage.ts";
import type { Step } from "./step.ts";
import { describe, lieOf, liesAbout } from "./substitutions.ts";
import type { Lie, Wire } from "./wire.ts";
import { clientOf, newWorld, type World } from "./world.ts";

/** A lie that deceived a client. */
export interface Finding {
  step: string;
  lie: string;
  problems: string[];
}

export interface SystematicOptions {
  wire: Wire;
  seed: string;
  /** The number of lies of each step, a quarter for a slow one; all by default. */
  each?: number | undefined;
  /** Only lies whose description matches this. */
  about?: RegExp | undefined;
  /** Only steps whose name contains this. */
  only?: string | undefined;
  onStep?: (line: string) => void;
  onFinding?: (finding: Finding) => void;
}

/** Longer than any honest step on a busy machine. */
const endlessMilliseconds = 60_000;

/** The result of all lies. */
export interface SystematicResult {
  findings: Finding[];
  /** Lies that were tried and changed an answer. */
  lies: number;
  /** The count of each outcome: `as honest`, or an error's code. */
  outcomes: Map<string, number>;
}

/** Plays each step of the journey honestly, and then once for each lie about a response in it. */
export async function systematic({
  wire,
  seed,
  each,
  only = "",
  about = /(?:)/,
  onStep,
  onFinding,
}: SystematicOptions): Promise<SystematicResult> {
  const world = await newWorld(wire);
  const oracle = createOracle(world.truth);
  await collude(world, oracle);
  wire.onRequest = oracle.overhear;
  wire.onAnswer = oracle.given;
  const result: SystematicResult = { findings: [], lies: 0, outcomes: new Map() };
  let run = 0;
  // Rejections without a handler. Outside of a test one of them ends the program.
  const unheard: unknown[] = [];
  const record = (reason: unknown): unknown => unheard.push(reason);
  process.on("unhandledRejection", record);
  const report = (finding: Finding): void => {
    result.findings.push(finding);
    onFinding?.(finding);
  };
  const play = async (step: Step, lie: Lie): Promise<{ problems: string[]; outcome: string }> => {
    run += 1;
    const stage = newStage(world, run, lie);
    const outcome = await played(step, stage);
    const problems = await oracle.verdict({ ...outcome, pins: await stage.pins() });
    problems.push(...unheard.splice(0).map((reason) => `a rejection that would end the program: ${String(reason)}`));
    return { problems, outcome: outcome.error === undefined ? "as honest" : codeOf(outcome.error) };
  };
  const steps = journey.filter(({ name }) => name.includes(only));
  for (const step of steps) {
    await mend(world);
    const began = performance.now();
    const before = wire.exchanges.length;
    const honest = await play(step, ({ answer }) => answer);
    if (honest.problems.length > 0 || honest.outcome !== "as honest")
      report({ step: step.name, lie: "none", problems: [honest.outcome, ...honest.problems] });
    const all = liesAbout(wire.exchanges.slice(before)).filter((one) => about.test(describe(one)));
    const chosen =
      each === undefined
        ? all
        : createRandom(`${seed} ${step.name}`)
            .shuffled(all)
            .slice(0, step.slow === true ? Math.ceil(each / 4) : each);
    for (const substitution of chosen) {
      const { lie, done } = lieOf(world, wire.exchanges, substitution);
      const { problems, outcome } = await play(step, lie);
      // A rotation stores unreadable values unchanged, so replaced values are written again.
      if (step.name.includes("rotates") && /secrets|records/.test(substitution.kind)) await mend(world);
      if (!done()) continue;
      result.lies += 1;
      result.outcomes.set(outcome, (result.outcomes.get(outcome) ?? 0) + 1);
      if (problems.length > 0) report({ step: step.name, lie: describe(substitution), problems });
    }
    onStep?.(
      `${step.name}: ${chosen.length} of ${all.length} lies, ${((performance.now() - began) / 1000).toFixed(1)} s`,
    );
  }
  process.off("unhandledRejection", record);
  return result;
}

async function played(
  step: Step,
  stage: ReturnType<typeof newStage>,
): Promise<{ said?: Awaited<ReturnType<Step["play"]>>; error?: unknown; hangs?: boolean }> {
  const ending = new AbortController();
  const endless = pause(endlessMilliseconds, { hangs: true }, { signal: ending.signal }).catch(() => ({}));
  try {
    return await Promise.race([step.play(stage).then((said) => ({ said })), endless]);
  } catch (error) {
    return { error };
  } finally {
    ending.abort();
  }
}

/** Writes unreadable secrets and records again, and removes a second secret of one title. */
async function mend({ wire, people, folders, team, truth }: World): Promise<void> {
  const me = clientOf(wire, people.olivia);
  for (const folder of [folders.production, folders.staging]) {
    const listed = await me.secrets.list(folder);
    for (const [index, { uid, title }] of listed.entries())
      if (listed.findIndex((one) => one.title === title) < index) await me.secrets.remove(uid);
    const readable = new Set(listed.map(({ uid }) => uid));
    const stored = wire.exchanges.findLast(({ path }) => path === `/api/org/folders/${folder}/secrets`)?.answer.body;
    for (const { uid } of (stored as { data: { uid: string }[] }).data)
      if (!readable.has(uid)) await me.secrets.remove(uid);
    for (const title of ["database", "api"]) {
      if (readable.size > 0 && (await me.secrets.list(folder)).some((secret) => secret.title === title)) continue;
      truth.value(folder, title, "password", "made again");
      await me.secrets.set(`coffer://${folder}/${title}/field/password`, "made again");
    }
  }
  const [record] = await me.records.list(team.id);
  if (record !== undefined) return;
  truth.value(team.id, team.record, "password", "made again");
  await me.records.update(team.id, team.record, { fields: { password: "made again" } });
}

function codeOf(error: unknown): string {
  return String((error as { code?: unknown }).code ?? error);
}
