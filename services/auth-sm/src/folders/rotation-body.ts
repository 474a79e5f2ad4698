import { base64Text, compactJwe, listOf, nameText, namedValues, uidText, uuidText } from "@coffer/http";
import { z } from "zod";
import { entryText } from "@coffer/service";
import { keyVersion } from "./bodies.ts";

/** The body contains every secret of the folder. */
export const rotationLimitBytes = 32 * 1024 * 1024;
/**
 * A secret with only its re-encrypted DEK has 8 JSON tokens in about 170 bytes, 48 per KiB; short
 * values twice that.
 */
export const rotationTokensPerKibibyte = 100;

const jwe = compactJwe(64);
const box = base64Text(64);
/**
 * The folder's key for a person: encrypted to the public key, or with the user key for the caller.
 */
const personsKey = z.string().check((context) => {
  const { value } = context;
  const { error } = (value.includes(".") ? jwe : box).safeParse(value);
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
 * Everything that the folder's key encrypted, encrypted with the next key; `key_version` is the
 * current one. A key is null for a member or machine that the folder's history does not name:
 * nothing may be encrypted to it.
 */
export const rotation = z.object({
  key_version: keyVersion,
  encrypted_keys: z.object({
    users: distinct(z.object({ user_id: uuidText, encrypted_key: personsKey.nullable() }), ({ user_id }) => user_id),
    clients: distinct(z.object({ client_id: uuidText, encrypted_key: jwe.nullable() }), ({ client_id }) => client_id),
  }),
  secrets: distinct(
    z.object({
      uid: uidText,
      version: z.int().positive(),
      wrapped_dek: base64Text(64),
      title_encrypted: base64Text(64).optional(),
      fields: namedValues(nameText(128), base64Text(64), 64).optional(),
    }),
    ({ uid }) => uid,
  ),
  entry: entryText.optional(),
});
export type Rotation = z.infer<typeof rotation>;
