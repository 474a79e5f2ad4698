import { base64Text } from "@coffer/http";
import { z } from "zod";

/** The encrypted keyring that a person's devices share. */
export const sealedKeyring = base64Text(512);

export const newKeyring = z.object({ version: z.int().min(1).max(2_147_483_647), sealed: sealedKeyring });
