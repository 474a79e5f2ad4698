import { CofferError, type PersonClient } from "@coffer/sdk";
import type { Test } from "tap";
import { collude } from "./collusion.ts";
import { createOracle, type Oracle, type Outcome, type Said } from "./oracle.ts";
import { newStage, type Stage } from "./stage.ts";
import type { Lie, Wire } from "./wire.ts";
import { clientOf, newWorld, type Person, type World } from "./world.ts";

/** A world with an operator with all its accomplices' keys, and the oracle that watches honest clients. */
export interface Scene {
  world: World;
  oracle: Oracle;
  /** A client without lies. */
  honest(person: Person): PersonClient;
  /** One request with a person's token, without a client. */
  ask(person: Person, method: string, path: string, body?: unknown): Promise<unknown>;
}

export async function newScene(wire: Wire): Promise<Scene> {
  const world = await newWorld(wire);
  const oracle = createOracle(world.truth);
  await collude(world, oracle);
  wire.onRequest = oracle.overhear;
  wire.onAnswer = oracle.given;
  return {
    world,
    oracle,
    honest: (person) => clientOf(wire, person),
    async ask({ session }, method, path, body) {
      const headers = { authorization: `Bearer ${session.access_token}`, "content-type": "application/json" };
      const answer = await fetch(wire.target + path, {
        method,
        headers,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return answer.json();
    },
  };
}

export interface Attack {
  lie: Lie;
  /** The actions of the deceived client; returns its output. */
  play(stage: Stage): Promise<Said[]>;
}

let runs = 0;

/** Attacks once. Returns the result (`as honest` or the error's code) and the problems. */
export async function attack(
  { world, oracle }: Scene,
  { lie, play }: Attack,
): Promise<{ outcome: string; problems: string[]; error: unknown }> {
  runs += 1;
  const stage = newStage(world, runs, lie);
  const outcome: Outcome = {};
  try {
    outcome.said = await play(stage);
  } catch (error) {
    outcome.error = error;
  }
  const problems = await oracle.verdict({ ...outcome, pins: await stage.pins() });
  const { error } = outcome;
  const named = error instanceof CofferError ? error.code : "another error";
  return { outcome: error === undefined ? "as honest" : named, problems, error };
}

/** Attacks once: the result must be one of these, without a problem. */
export async function expectAttack(
  t: Test,
  scene: Scene,
  title: string,
  one: Attack,
  outcomes: readonly string[],
): Promise<void> {
  const { outcome, problems, error } = await attack(scene, one);
  t.strictSame(problems, [], title);
  t.ok(outcomes.includes(outcome), `${title}: ${outcome}`, { wanted: outcomes, error });
}
