import type { scanDocuments } from "@coffer/events";
import type { z } from "zod";
import type { Deps } from "../deps.ts";
import { answerOf, type ScanAnswer } from "./answer.ts";

/** An answer must fit into one message. */
const room = { occurrences: 1_000, bytes: 384 * 1024 };

/**
 * coffer.rpc.scanner.scan
 * @throws ServiceError `invalid_request` for a diff that is none, `unavailable` while the queue is full
 */
export async function scanForService(
  { scans }: Pick<Deps, "scans">,
  { documents = [], diff }: z.output<typeof scanDocuments.input>,
): Promise<ScanAnswer> {
  return answerOf(await scans.scan({ documents, diff, room }, "bus"));
}
