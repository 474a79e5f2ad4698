import { jsonLine, visible } from "../output/output.ts";

export type ExportFormat = "jsonl" | "csv";

/** An unvalidated record. Its members are checked one by one. */
type Sent = Readonly<Record<string, unknown>>;

const columns: readonly (readonly [heading: string, ...path: string[]])[] = [
  ["seq", "seq"],
  ["time", "time"],
  ["action", "action"],
  ["outcome", "outcome"],
  ["reason", "reason"],
  ["actor_type", "actor", "type"],
  ["actor_id", "actor", "id"],
  ["actor_session_id", "actor", "session_id"],
  ["actor_application_id", "actor", "application_id"],
  ["target_type", "target", "type"],
  ["target_id", "target", "id"],
  ["target_parent_id", "target", "parent_id"],
  ["source_ip", "source", "ip"],
  ["source_user_agent", "source", "user_agent"],
  ["request_id", "request", "id"],
  ["request_method", "request", "method"],
  ["request_route", "request", "route"],
  ["request_status", "request", "status"],
  ["count", "count"],
  ["changes", "changes"],
  ["org_id", "org_id"],
  ["id", "id"],
  ["schema", "schema"],
  ["prev_hash", "prev_hash"],
  ["hash", "hash"],
];

/** The first line of a file; undefined when the format has none. */
export function headingOf(format: ExportFormat): string | undefined {
  return format === "csv" ? columns.map(([heading]) => quoted(heading)).join(",") : undefined;
}

/** A record as one line, without its line break. */
export function lineOf(format: ExportFormat, record: unknown): string {
  if (format === "jsonl") return jsonLine(record);
  return columns.map(([, ...path]) => cell(path.reduce<unknown>(member, record))).join(",");
}

/** The `seq` of the record in a line; null for another line. */
export function seqOf(format: ExportFormat, line: string): number | null {
  if (format === "csv") return /^\d{1,15}(?=,)/.test(line) ? Number.parseInt(line, 10) : null;
  try {
    const { seq } = JSON.parse(line) as { seq?: unknown }; // looked at below
    return typeof seq === "number" && Number.isSafeInteger(seq) ? seq : null;
  } catch {
    return null;
  }
}

const member = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null ? (value as Sent)[name] : undefined;

function cell(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "number") return String(value);
  return quoted(typeof value === "string" ? value : JSON.stringify(value));
}

/**
 * Quoted as in RFC 4180, in one line. Text that a spreadsheet would take for a formula gets an
 * apostrophe: callers choose some of it, such as their user agent.
 */
function quoted(text: string): string {
  const line = visible(text);
  return `"${/^[=+\-@]/.test(line.trimStart()) ? "'" : ""}${line.replaceAll('"', '""')}"`;
}
