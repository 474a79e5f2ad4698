import type { PersonClient, Secret, VaultRecord } from "@coffer/sdk";
import type { Said } from "./oracle.ts";
import type { Stage } from "./stage.ts";

/** One repeatable action of a person or machine. */
export interface Step {
  name: string;
  /** Whether passwords are stretched in it. */
  slow?: true;
  /** Runs it with deceived clients, and returns their output. */
  play(stage: Stage): Promise<Said[]>;
}

export const database = "database";
export const expiresAt = "2099-12-31T00:00:00Z";
export const field = (folder: string, title: string, name: string): string =>
  `coffer://${folder}/${title}/field/${name}`;

/** The output about secrets. */
export function saidOf(secrets: readonly Secret[]): Said[] {
  return secrets.flatMap(({ folder_id, folder, title, name, notes = "", fields }) => [
    { kind: "name" as const, res: `folder:${folder_id}`, name: folder },
    { kind: "text" as const, text: `${name} ${notes}` },
    ...Object.entries(fields).map(([one, value]) => ({
      kind: "value" as const,
      folder: folder_id,
      title,
      field: one,
      value,
    })),
  ]);
}

/** The output about one value of a notation. */
export const saidValue = (folder: string, title: string, name: string, value: string): Said[] => [
  { kind: "value", folder, title, field: name, value },
];

type Who = "olivia" | "anna" | "bob";

export const read = (name: string, who: Who, play: (me: PersonClient, stage: Stage) => Promise<Said[]>): Step => ({
  name: `${who}: ${name}`,
  play: (stage) => play(stage.person(stage.world.people[who]), stage),
});

export const saidOfRecords = (records: readonly Pick<VaultRecord, "id" | "vault_id" | "fields">[]): Said[] =>
  records.flatMap(({ id, vault_id, fields }) =>
    Object.entries(fields).map(([one, value]) => ({
      kind: "value" as const,
      folder: vault_id,
      title: id,
      field: one,
      value,
    })),
  );
