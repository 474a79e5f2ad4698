import { base64Text, listOf, timestampText, uuidText } from "@coffer/http";
import { z } from "zod";
import { entryText, sealedKeyText } from "@coffer/service";
import { keyVersion, vaultPath } from "../vaults/bodies.ts";

/** The limit of records of one request. */
const mostRecords = 1_000;
export const rotationLimitBytes = 32 * 1024 * 1024;

const box = base64Text(64);
/** The vault's key for a member: sealed to the public key, or for the caller under the user key. */
const memberKey = z.string().check((context) => {
  const { value } = context;
  const { error } = (value.includes(".") ? sealedKeyText : box).safeParse(value);
  for (const issue of error?.issues ?? []) if (issue.code === "custom") context.issues.push({ ...issue, input: value });
});

const mostMembers = 100_000;

/** A list without duplicates by `idOf`. */
function distinct<Item extends z.ZodType>(item: Item, most: number, idOf: (item: z.output<Item>) => string) {
  return listOf(item, most).refine((items) => new Set(items.map(idOf)).size === items.length, "has duplicates");
}

/** A record sealed with the next key; `updated_at` names the version that was sealed. */
const resealedRecord = z.object({ id: uuidText, updated_at: timestampText, encrypted_data: base64Text(256) });
const resealedRecords = distinct(resealedRecord, mostRecords, ({ id }) => id);

/**
 * A rotation of a vault's key. `key_version` is the present one. The records are in the body, or
 * were staged under `rotation_id`.
 */
export const rotation = z
  .object({
    key_version: keyVersion,
    encrypted_keys: z.object({
      users: distinct(
        z.object({ user_id: uuidText, encrypted_key: memberKey.nullable() }),
        mostMembers,
        ({ user_id }) => user_id,
      ),
    }),
    records: resealedRecords.optional(),
    rotation_id: uuidText.optional(),
    entry: entryText.optional(),
  })
  .refine(
    ({ records, rotation_id }) => (records === undefined) !== (rotation_id === undefined),
    "has either `records` or `rotation_id`",
  );
export type Rotation = z.infer<typeof rotation>;

export const rotationPath = vaultPath.extend({ rotation_id: uuidText });
export type RotationPath = z.infer<typeof rotationPath>;

export const stagedRecords = z.object({ records: resealedRecords });
export type StagedRecords = z.infer<typeof stagedRecords>;
