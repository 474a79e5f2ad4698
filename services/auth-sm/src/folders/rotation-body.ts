import { base64Text, listOf, nameText, namedValues, uidText, uuidText } from "@coffer/http";
import { z } from "zod";
import { boxedKeyText, entryText, sealedKeyText } from "@coffer/service";
import { folderPath, keyVersion } from "./bodies.ts";

/** Of a rotation, and of each request that stages secrets for one. */
export const rotationLimitBytes = 32 * 1024 * 1024;
/**
 * A secret with only its re-encrypted DEK has 8 JSON tokens in about 170 bytes, 48 per KiB; short
 * values twice that.
 */
export const rotationTokensPerKibibyte = 100;

/**
 * The folder's key for a person: encrypted to the public key, or with the user key for the caller.
 */
const personsKey = z.string().check((context) => {
  const { value } = context;
  const { error } = (value.includes(".") ? sealedKeyText : boxedKeyText).safeParse(value);
  for (const issue of error?.issues ?? []) if (issue.code === "custom") context.issues.push({ ...issue, input: value });
});

/** More items than fit into a body of 32 MiB. */
const mostItems = 250_000;

/** A list without duplicates by id. */
function distinct<Item extends z.ZodType>(item: Item, idOf: (item: z.output<Item>) => string) {
  return listOf(item, mostItems).refine(
    (items) => new Set(items.map(idOf)).size === items.length,
    "names something twice",
  );
}

/**
 * A secret, encrypted again: its DEK, title and fields with the next key. `encrypted_payload` is
 * the payload under a new DEK; without it the stored payload and its DEK are not changed. It may be
 * 1 KiB longer than that of a write: a payload at that limit in the bare layout grows in box v1.
 */
const resealedSecrets = distinct(
  z.object({
    uid: uidText,
    version: z.int().positive(),
    encrypted_payload: base64Text(257).optional(),
    wrapped_dek: base64Text(64),
    title_encrypted: base64Text(64).optional(),
    fields: namedValues(nameText(128), base64Text(64), 64).optional(),
  }),
  ({ uid }) => uid,
);

/**
 * Everything that the folder's key encrypted, encrypted with the next key; `key_version` is the
 * current one. The secrets are in the body, or were staged under `rotation_id`. A key is null for a
 * member or machine that the folder's history does not name: nothing may be encrypted to it.
 */
export const rotation = z
  .object({
    key_version: keyVersion,
    encrypted_keys: z.object({
      users: distinct(z.object({ user_id: uuidText, encrypted_key: personsKey.nullable() }), ({ user_id }) => user_id),
      clients: distinct(
        z.object({ client_id: uuidText, encrypted_key: sealedKeyText.nullable() }),
        ({ client_id }) => client_id,
      ),
    }),
    secrets: resealedSecrets.optional(),
    rotation_id: uuidText.optional(),
    entry: entryText.optional(),
  })
  .refine(
    ({ secrets, rotation_id }) => (secrets === undefined) !== (rotation_id === undefined),
    "has either `secrets` or `rotation_id`",
  );
export type Rotation = z.infer<typeof rotation>;

export const rotationPath = folderPath.extend({ rotation_id: uuidText });
export type RotationPath = z.infer<typeof rotationPath>;

export const stagedSecrets = z.object({ secrets: resealedSecrets });
export type StagedSecrets = z.infer<typeof stagedSecrets>;
