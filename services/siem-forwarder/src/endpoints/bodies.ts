import { siemFormats } from "@coffer/contract";
import { nameText, uuidText } from "@coffer/http";
import { z } from "zod";
import { givenCredentials } from "../credentials/credentials.ts";

export const newEndpoint = z.object({
  name: nameText().optional(),
  format: z.enum(siemFormats),
  url: z.string(),
  credentials: givenCredentials,
  /** Default: true. */
  enabled: z.boolean().optional(),
});
export type NewEndpoint = z.infer<typeof newEndpoint>;

/** Omitted fields do not change. */
export const endpointChange = z.object({
  name: nameText().optional(),
  url: z.string().optional(),
  /** All of them: those that were set before are replaced. */
  credentials: givenCredentials.optional(),
  enabled: z.boolean().optional(),
});
export type EndpointChange = z.infer<typeof endpointChange>;

export const endpointPath = z.object({ id: uuidText });
export type EndpointPath = z.infer<typeof endpointPath>;
