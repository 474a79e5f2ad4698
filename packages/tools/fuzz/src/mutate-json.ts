import type { Random } from "@coffer/testkit";
import { RawJson, strangeKinds, strangeNames, strangeTexts, type StrangeValue } from "./strange-values.ts";

/** A place in a value: names and indices, from the outside in. */
export type Place = readonly (string | number)[];

/** One malformation of a body. */
export interface JsonMutation {
  readonly name: string;
  /** Changes the value, which is a copy; returns the new value. */
  apply(body: unknown): unknown;
}

/** Every field and item of a value, the value itself first. */
export function placesOf(value: unknown, place: Place = []): Place[] {
  if (typeof value !== "object" || value === null || value instanceof RawJson) return [place];
  return [place, ...Object.entries(value).flatMap(([name, part]) => placesOf(part, [...place, name]))];
}

/** All single mutations of a body: each strange value in each place, each field omitted, each name added. */
export function jsonMutations(example: unknown): JsonMutation[] {
  const places = placesOf(example);
  return places.flatMap((place) => [
    ...[...strangeTexts, ...strangeKinds].map((strange) => replacement(place, strange)),
    ...(place.length === 0 ? [] : [removal(place)]),
    ...(isObject(at(example, place)) ? strangeNames.map((name) => addition(place, name)) : []),
    ...(Array.isArray(at(example, place)) ? [repetition(place)] : []),
  ]);
}

/** A random mutation: a text that is cut, extended or filled with odd characters. */
export function textMutation(random: Random, example: unknown): JsonMutation {
  const places = placesOf(example).filter((place) => typeof at(example, place) === "string");
  if (places.length === 0) return { name: "nothing", apply: (body) => body };
  const place = random.pick(places);
  const [position, kind] = [random.below(1_000_000), random.below(6)];
  const odd = random.pick(["\0", "\ud800", "\u{10ffff}", " ", "=", "/", "+", "-", ".", "é", "\u0301", "%", '"', "\\"]);
  return {
    name: `a changed text at ${place.join(".")}`,
    apply: (body) => {
      const before = at(body, place);
      if (typeof before !== "string") return body;
      const split = position % (before.length + 1);
      const [head, tail] = [before.slice(0, split), before.slice(split)];
      const texts = [head, tail, head + odd + tail, head + odd + tail.slice(1), before + before, before.toUpperCase()];
      return put(body, place, texts[kind]);
    },
  };
}

function replacement(place: Place, strange: StrangeValue): JsonMutation {
  return {
    name: `${strange.name} at ${place.join(".") || "the top"}`,
    apply: (body) => put(body, place, strange.make()),
  };
}

function removal(place: Place): JsonMutation {
  return {
    name: `nothing at ${place.join(".")}`,
    apply: (body) => {
      const holder = at(body, place.slice(0, -1));
      const name = place.at(-1);
      if (Array.isArray(holder)) holder.splice(Number(name), 1);
      else if (isObject(holder) && name !== undefined) Reflect.deleteProperty(holder, name);
      return body;
    },
  };
}

function addition(place: Place, name: string): JsonMutation {
  return {
    name: `the field ${JSON.stringify(name.slice(0, 20))} added at ${place.join(".") || "the top"}`,
    apply: (body) => {
      const holder = at(body, place);
      if (isObject(holder))
        Object.defineProperty(holder, name, { value: { a: 1 }, enumerable: true, configurable: true, writable: true });
      return body;
    },
  };
}

function repetition(place: Place): JsonMutation {
  return {
    name: `the items at ${place.join(".")} a hundred times`,
    apply: (body) => {
      const list: unknown = at(body, place);
      return Array.isArray(list) ? put(body, place, Array.from({ length: 100 }, (): unknown[] => list).flat()) : body;
    },
  };
}

/** The value in a place; undefined without one. */
export function at(value: unknown, place: Place): unknown {
  let found = value;
  for (const name of place) {
    if (typeof found !== "object" || found === null) return undefined;
    found = (found as Record<string, unknown>)[name]; // any name is possible
  }
  return found;
}

/** The value with a replaced place. */
export function put(value: unknown, place: Place, content: unknown): unknown {
  const name = place.at(-1);
  if (name === undefined) return content;
  const holder = at(value, place.slice(0, -1));
  if (typeof holder === "object" && holder !== null) (holder as Record<string, unknown>)[name] = content; // any name
  return value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof RawJson);
}
