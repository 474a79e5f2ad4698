import { base64Text } from "@coffer/http";
import { z } from "zod";

export const pinBody = z.object({ version: z.int().positive().max(2_147_483_647), sealed: base64Text(64) });
export type PinBody = z.infer<typeof pinBody>;
