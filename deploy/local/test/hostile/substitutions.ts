import { newId } from "@coffer/crypto";
import { forgedItem, forgery, type Target } from "./forgeries.ts";
import { at, isObject, type Place, valuesAt } from "./place.ts";
import { type Answer, type Exchange, kindOf, type Lie } from "./wire.ts";
import type { World } from "./world.ts";

/** One lie about one place of one answer in a step. */
export interface Substitution {
  /** The deceived client. */
  from: string;
  /** The exchange: its kind, and its number of this kind in the step. */
  kind: string;
  count: number;
  place: Place;
  /** The replacement. */
  how: How;
}

const others = ["another object's", "another person's", "an earlier answer's"] as const;
const leaves = [...others, "the attacker's", "its accomplices'", "null", "left out"] as const;
const objects = ["another object's", "an earlier answer's", "left out"] as const;
const lists = [
  ...others,
  "first dropped",
  "last dropped",
  "emptied",
  "repeated",
  "reversed",
  "forged item added",
] as const;
const wholes = [...others, "404", "409", "500", "empty 200"] as const;
export type How = (typeof leaves)[number] | (typeof lists)[number] | (typeof wholes)[number];

/** Whether a list is so long that only its first two items and its last are replaced. */
const isTaken = (index: number, length: number): boolean => index < 2 || index === length - 1;

/** All lies about the responses of deceivable clients. */
export function liesAbout(exchanges: readonly Exchange[]): Substitution[] {
  const counts = new Map<string, number>();
  return exchanges
    .filter(({ attacked }) => attacked)
    .flatMap((exchange) => {
      const kind = `${exchange.from} ${kindOf(exchange)}`;
      const count = counts.get(kind) ?? 0;
      counts.set(kind, count + 1);
      return substitutionsOf(exchange, count);
    });
}

function substitutionsOf(exchange: Exchange, count: number): Substitution[] {
  const about = { from: exchange.from, kind: kindOf(exchange), count };
  const all: Substitution[] = [];
  const add = (place: Place, hows: readonly How[]): unknown =>
    all.push(...hows.map((how) => ({ ...about, place, how })));
  const visit = (value: unknown, place: Place): void => {
    if (Array.isArray(value)) {
      add(place, lists);
      value.forEach((item, index) => {
        if (isTaken(index, value.length)) visit(item, [...place, index]);
      });
    } else if (isObject(value)) {
      if (place.length > 0) add(place, objects);
      for (const [name, one] of Object.entries(value)) visit(one, [...place, name]);
    } else if (place.length > 0) add(place, leaves);
  };
  add([], wholes);
  visit(exchange.answer.body, []);
  return all;
}

/** In words, to repeat a failure. */
export function describe({ from, kind, count, place, how }: Substitution): string {
  return `${from}: ${kind} #${count + 1} at /${place.join("/")}: ${how}`;
}

/** The lie of a substitution, once; `done` is true after a changed response. */
export function lieOf(
  world: World,
  past: readonly Exchange[],
  { from, kind, count, place, how }: Substitution,
): { lie: Lie; done: () => boolean } {
  let changed = false;
  let seen = 0;
  return {
    done: () => changed,
    lie: async (exchange) => {
      const { answer } = exchange;
      if (exchange.from !== from || kindOf(exchange) !== kind) return answer;
      seen += 1;
      if (seen !== count + 1) return answer;
      const other = await answerWith(world, past, exchange, place, how);
      changed ||= JSON.stringify(other) !== JSON.stringify(answer);
      return other;
    },
  };
}

async function answerWith(
  world: World,
  past: readonly Exchange[],
  exchange: Exchange,
  place: Place,
  how: How,
): Promise<Answer> {
  const { answer } = exchange;
  if (place.length === 0) return wholeAnswer(past, exchange, how);
  const body: unknown = structuredClone(answer.body);
  const parent = at(body, place.slice(0, -1));
  const name = place.at(-1) ?? "";
  if (!isObject(parent) || !(name in parent)) return answer;
  const members = parent as Record<string | number, unknown>;
  const target = { world, exchange, place, parent: members, name, value: members[name] };
  if (how !== "left out") members[name] = await valueWith(past, target, how);
  else if (Array.isArray(parent)) parent.splice(Number(name), 1);
  else Reflect.deleteProperty(members, name);
  return { status: answer.status, body };
}

const errors: Partial<Record<How, string>> = { "404": "not_found", "409": "conflict", "500": "internal_error" };

function wholeAnswer(past: readonly Exchange[], exchange: Exchange, how: How): Answer {
  const error = errors[how];
  if (error !== undefined) return { status: Number(how), body: { error, message: "a sentence", request_id: newId() } };
  if (how === "empty 200") return { status: 200, body: {} };
  return otherAnswer(past, exchange, how)?.answer ?? exchange.answer;
}

/** The replacements of lists, by name. */
const changes: Partial<Record<How, (list: readonly unknown[]) => unknown>> = {
  "first dropped": (list) => list.slice(1),
  "last dropped": (list) => list.slice(0, -1),
  emptied: () => [],
  repeated: (list) => list.flatMap((item) => [item, item]),
  reversed: (list) => list.toReversed(),
};

async function valueWith(past: readonly Exchange[], target: Target, how: How): Promise<unknown> {
  const { world, exchange, place, value } = target;
  if (how === "null") return null;
  if (how === "the attacker's") return forgery(target, "attacker");
  if (how === "its accomplices'") return forgery(target, "accomplice");
  if (Array.isArray(value)) {
    const list = value as unknown[];
    const change = changes[how];
    if (change !== undefined) return change(list);
    if (how === "forged item added") return [...list, await forgedItem(world, exchange, list.at(-1))];
  }
  return found(past, exchange, place, value, how) ?? value;
}

/** A response of the same kind: about another object, for another person, or an earlier one. */
function otherAnswer(past: readonly Exchange[], exchange: Exchange, how: How): Exchange | undefined {
  const { from, method, path, answer } = exchange;
  const same = JSON.stringify(answer.body);
  const kind = kindOf(exchange);
  const differs = (one: Exchange): boolean => one.answer.status < 300 && JSON.stringify(one.answer.body) !== same;
  if (how === "an earlier answer's")
    return past.find((one) => one.from === from && one.method === method && one.path === path && differs(one));
  const other =
    how === "another person's" ? (one: Exchange) => one.from !== from : (one: Exchange) => one.path !== path;
  return past.findLast((one) => other(one) && kindOf(one) === kind && differs(one));
}

/** The same member of another response, or of another object of this one. */
function found(past: readonly Exchange[], exchange: Exchange, place: Place, value: unknown, how: How): unknown {
  const same = JSON.stringify(value);
  const differs = (one: unknown): boolean => typeof one === typeof value && JSON.stringify(one) !== same;
  const last = place.at(-1) ?? "";
  const here = how === "another object's" ? valuesAt(exchange.answer.body, last).find(differs) : undefined;
  if (here !== undefined) return here;
  const source = otherAnswer(past, exchange, how)?.answer.body;
  const there = at(source, place);
  return differs(there) ? there : valuesAt(source, last).find(differs);
}
