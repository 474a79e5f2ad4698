import type { Kind } from "./second-corpus-kind.ts";
import { cloudKinds } from "./second-corpus-kinds-cloud.ts";
import { codeKinds } from "./second-corpus-kinds-code.ts";
import { keyFileKinds, keyKinds } from "./second-corpus-kinds-keys.ts";
import { serviceKinds } from "./second-corpus-kinds-services.ts";
import { harmless, referenceLines } from "./second-corpus-near-misses.ts";
import { draw as newDraw } from "./second-corpus-random.ts";
import type { Draw } from "./second-corpus-random.ts";
import { blockSurroundings, surroundings } from "./second-corpus-surroundings.ts";
import type { Place, Surrounding } from "./second-corpus-surroundings.ts";

/** A file of the corpus with what a scan of it must report. */
export interface Case extends Place {
  /** The kind of credential, or of near-miss. */
  kind: string;
  surrounding: string;
  /** What a finding must contain; absent in a near-miss. */
  core?: string;
  term?: string;
  low?: boolean;
  /** The rule of another credential that stands beside it. */
  companion?: string;
}

const lineKinds: readonly Kind[] = [...codeKinds, ...cloudKinds, ...serviceKinds];

/** Credentials in each surrounding that suits their kind. */
export function positives(seed: number, share = 1): Case[] {
  const draw = newDraw(seed);
  const cases: Case[] = [];
  const add = (kind: Kind, surrounding: string, place: Place, value: string): void => {
    const core = kind.core?.(value) ?? value;
    if (core.length < 10) throw new Error(`${kind.name} has no core`);
    const { name, term, low, companion } = kind;
    cases.push({
      ...place,
      kind: name,
      surrounding,
      core,
      ...(term === undefined ? {} : { term }),
      ...(low === undefined ? {} : { low }),
      ...(companion === undefined ? {} : { companion }),
    });
  };
  const addTexts = (kind: Kind, value: string): void => {
    for (const [at, text] of (kind.texts?.(draw, value) ?? []).entries())
      add(kind, `own ${at}`, { path: "src/app.conf", bytes: Buffer.from(text) }, value);
  };
  const addAll = (kind: Kind, list: readonly Surrounding[]): void => {
    for (const surrounding of list) {
      if (draw.below(1_000) >= share * 1_000) continue;
      if (kind.named === true && surrounding.nameless === true) continue;
      const value = kind.make(draw);
      add(kind, surrounding.name, surrounding.place(draw, kind.variable, value), value);
    }
    addTexts(kind, kind.make(draw));
  };
  for (const kind of lineKinds) addAll(kind, kind.texts !== undefined && kind.own === true ? [] : surroundings);
  for (const kind of keyKinds) addAll(kind, blockSurroundings);
  for (const kind of keyFileKinds) {
    for (const { name, place } of blockSurroundings.filter(({ name }) => /^(file|UTF-16|gzip)/.test(name))) {
      const value = kind.make(draw);
      add(kind, name, place(draw, kind.variable, value), value);
    }
  }
  return cases;
}

/** Texts that look like credentials and are none. */
export function nearMisses(seed: number, rounds: number): Case[] {
  const draw = newDraw(seed);
  return Array.from({ length: rounds }, () => [...ofKinds(draw), ...ofNoKind(draw)]).flat();
}

function ofKinds(draw: Draw): Case[] {
  const ofLines = lineKinds.flatMap((kind) =>
    (kind.near?.(draw) ?? []).map((value): Case => {
      const surrounding = draw.pick(surroundings);
      return { ...surrounding.place(draw, kind.variable, value), kind: kind.name, surrounding: surrounding.name };
    }),
  );
  const ofBlocks = keyKinds.flatMap((kind) =>
    (kind.near?.(draw) ?? []).map((value): Case => {
      const surrounding = draw.pick(blockSurroundings);
      return { ...surrounding.place(draw, "PRIVATE_KEY", value), kind: kind.name, surrounding: surrounding.name };
    }),
  );
  return [...ofLines, ...ofBlocks];
}

function ofNoKind(draw: Draw): Case[] {
  const files = harmless.flatMap(({ name, path, write }) =>
    Array.from({ length: 4 }, (): Case => ({ kind: name, surrounding: "file", path, bytes: Buffer.from(write(draw)) })),
  );
  const lines = referenceLines(draw).map(({ name, path, text }): Case => ({
    kind: name,
    surrounding: "file",
    path,
    bytes: Buffer.from(text),
  }));
  return [...files, ...lines];
}
