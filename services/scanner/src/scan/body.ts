import { isBase64, listOf, nameText, oversize } from "@coffer/http";
import { z } from "zod";

const mebibyte = 1024 * 1024;
const mostDocuments = 100;
const mostPathCharacters = 1024;
const mostBytes = 5 * mebibyte;

/** JSON escapes make a body longer than its texts. */
export const bodyLimitBytes = 8 * mebibyte;

const document = z
  .object({
    path: nameText(mostPathCharacters),
    content: z.string(),
    encoding: z.enum(["utf8", "base64"]).optional(),
  })
  .check(({ value, issues }) => {
    if (value.encoding === "base64" && value.content !== "" && !isBase64(value.content))
      issues.push({ code: "custom", message: "not base64 with padding", path: ["content"], input: value.content });
  });

/** The body of `POST /api/scanner/scan`. */
export const scanBody = z
  .object({
    documents: listOf(document, mostDocuments, "payload_too_large").optional(),
    diff: z.string().optional(),
  })
  .check(({ value, issues }) => {
    if (value.documents === undefined && value.diff === undefined)
      issues.push({ code: "custom", message: "documents or diff is required", path: ["documents"], input: value });
    const texts = [...(value.documents ?? []).map(({ content }) => content), value.diff ?? ""];
    const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    if (bytes > mostBytes)
      issues.push({
        ...oversize("content and diff are longer than 5 MiB together"),
        path: ["documents"],
        input: value,
      });
  });

export type ScanBody = z.output<typeof scanBody>;
