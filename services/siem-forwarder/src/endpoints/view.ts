import type { SiemFormat } from "@coffer/contract";
import type { EndpointRow } from "../store/endpoints.ts";

/** An endpoint as people see it. Its credentials are never shown. */
export interface EndpointView {
  id: string;
  name: string | null;
  format: SiemFormat;
  url: string;
  enabled: boolean;
  created_at: string;
  updated_at: string;
  /**
   * Null before the first. `status` is the HTTP status of the answer, null without one; `error`
   * null after a success.
   */
  last_delivery: { status: number | null; at: string; error: string | null } | null;
}

export function viewOf(row: EndpointRow): EndpointView {
  const { id, name, format, url, enabled, created_at, updated_at, last_status, last_at, last_error } = row;
  return {
    id,
    name,
    format,
    url,
    enabled,
    created_at,
    updated_at,
    last_delivery: last_at === null ? null : { status: last_status, at: last_at, error: last_error },
  };
}
