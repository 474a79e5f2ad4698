import { nameText, uuidText } from "@coffer/http";
import { z } from "zod";

/** Up to 1,024 characters, possibly none; line breaks and tabs are allowed. */
const description = z
  .string()
  .max(1024)
  // oxlint-disable-next-line no-control-regex -- control characters are what it refuses
  .regex(/^[^\u0000-\u0008\u000b-\u001f\u007f-\u009f]*$/, "must not hold control characters")
  .refine((text) => text.isWellFormed(), "must not hold broken Unicode");

export const newApplication = z.object({ name: nameText(), description: description.optional() });
export type NewApplication = z.infer<typeof newApplication>;

export const applicationChange = newApplication.partial();
export type ApplicationChange = z.infer<typeof applicationChange>;

export const applicationPath = z.object({ id: uuidText });
export type ApplicationPath = z.infer<typeof applicationPath>;
