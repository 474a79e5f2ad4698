/** A panel: its content, and a query for each of its lines. */
interface Panel {
  title: string;
  unit: "s" | "reqps" | "percentunit" | "short" | "bytes" | "ops";
  /** PromQL, by the legend of its series. */
  queries: Record<string, string>;
  /** Text under the title: how to read it. */
  description?: string;
}

interface Dashboard {
  /** Part of its file's name, and of its address in Grafana. */
  id: string;
  title: string;
  panels: Panel[];
}

const requests = "http_server_request_duration_seconds";
const quantile = (share: number, bucket: string, by: string): string =>
  `histogram_quantile(${share}, sum by (${by}, le) (rate(${bucket}_bucket[$__rate_interval])))`;
const ratePanel = (title: string, selector = ""): Panel => ({
  title,
  unit: "reqps",
  queries: { "{{service}}": `sum by (service) (rate(${requests}_count{${selector}}[$__rate_interval]))` },
});

export const dashboards: readonly Dashboard[] = [
  {
    id: "overview",
    title: "Coffer / Overview",
    panels: [
      ratePanel("Requests"),
      {
        title: "Errors (500 and above)",
        unit: "percentunit",
        queries: {
          "{{service}}":
            `sum by (service) (rate(${requests}_count{http_response_status_code=~"5.."}[$__rate_interval]))` +
            ` / sum by (service) (rate(${requests}_count[$__rate_interval]))`,
        },
        description: "The objective is 0.1 % over 30 days.",
      },
      {
        title: "Duration",
        unit: "s",
        queries: {
          "{{service}} p50": quantile(0.5, requests, "service"),
          "{{service}} p99": quantile(0.99, requests, "service"),
        },
      },
      {
        title: "Error budget spent, 3 days (1 is as fast as allowed)",
        unit: "short",
        queries: {
          "{{service}} availability": "coffer:availability_errors:ratio_rate3d / 0.001",
          "{{service}} latency": "coffer:latency_errors:ratio_rate3d / 0.01",
        },
      },
      {
        title: "Event loop delay, p99",
        unit: "s",
        queries: { "{{service}} {{instance}}": "nodejs_eventloop_lag_p99_seconds" },
      },
      { title: "Memory", unit: "bytes", queries: { "{{service}} {{instance}}": "process_resident_memory_bytes" } },
      {
        title: "CPU",
        unit: "short",
        queries: { "{{service}} {{instance}}": "rate(process_cpu_seconds_total[$__rate_interval])" },
      },
      {
        title: "Database connections",
        unit: "short",
        queries: {
          "{{service}} {{pool}} in use": "sum by (service, pool) (coffer_db_pool_in_use)",
          "{{service}} {{pool}} waiting": "sum by (service, pool) (coffer_db_pool_waiting)",
        },
      },
      {
        title: "Postgres takes writes",
        unit: "short",
        queries: { "{{service}}": "min by (service) (coffer_db_writable)" },
        description: "0: it is away, its disk is full, or the address leads to a standby.",
      },
      {
        title: "Bus requests, p99",
        unit: "s",
        queries: { "{{service}} {{subject}}": quantile(0.99, "coffer_bus_request_seconds", "service, subject") },
      },
      {
        title: "Releases",
        unit: "short",
        queries: { "{{service}} {{version}}": "count by (service, version) (coffer_build_info)" },
      },
    ],
  },
  {
    id: "secrets-manager",
    title: "Coffer / Secrets Manager",
    panels: [
      {
        title: "Requests of machines",
        unit: "reqps",
        queries: {
          "{{http_request_method}} {{http_route}}": `sum by (http_request_method, http_route) (rate(${requests}_count{http_route=~"/api/sm/.*"}[$__rate_interval]))`,
        },
      },
      {
        title: "Duration, p99",
        unit: "s",
        queries: {
          "{{http_route}}": `histogram_quantile(0.99, sum by (http_route, le) (rate(${requests}_bucket{http_route=~"/api/sm/.*"}[$__rate_interval])))`,
        },
      },
      {
        title: "Answers by status",
        unit: "reqps",
        queries: {
          "{{http_response_status_code}}": `sum by (http_response_status_code) (rate(${requests}_count{http_route=~"/api/sm/.*"}[$__rate_interval]))`,
        },
      },
      {
        title: "Callers that were refused",
        unit: "ops",
        queries: {
          "{{service}} {{reason}}": "sum by (service, reason) (rate(coffer_auth_failures_total[$__rate_interval]))",
        },
        description: "A spike of one reason may be an attack, or a machine with a wrong clock.",
      },
      {
        title: "Writes over a quota",
        unit: "ops",
        queries: { "{{service}}": "sum by (service) (rate(coffer_quota_refusals_total[$__rate_interval]))" },
      },
    ],
  },
  {
    id: "sync",
    title: "Coffer / Sync",
    panels: [
      { title: "Connections", unit: "short", queries: { "{{instance}}": "coffer_sync_connections" } },
      {
        title: "From commit to socket",
        unit: "s",
        queries: {
          p50: quantile(0.5, "coffer_sync_push_latency_seconds", "service"),
          p99: quantile(0.99, "coffer_sync_push_latency_seconds", "service"),
        },
      },
      {
        title: "Connections ended, by code",
        unit: "ops",
        queries: { "{{code}}": "sum by (code) (rate(coffer_sync_closes_total[$__rate_interval]))" },
      },
      {
        title: "Oldest transaction that holds back sync",
        unit: "s",
        queries: { "{{service}}": "max by (service) (coffer_sync_tick_age_seconds)" },
      },
    ],
  },
  {
    id: "limiter",
    title: "Coffer / Limiter",
    panels: [
      {
        title: "Decisions",
        unit: "ops",
        queries: {
          "{{bucket}} {{decision}}":
            "sum by (bucket, decision) (rate(coffer_ratelimit_decisions_total[$__rate_interval]))",
        },
      },
      {
        title: "Without Redis",
        unit: "short",
        queries: { "{{service}} {{instance}}": "coffer_ratelimit_degraded" },
        description: "1: the replica counts for itself.",
      },
    ],
  },
  {
    id: "outbox",
    title: "Coffer / Outbox and audit",
    panels: [
      {
        title: "Oldest message",
        unit: "s",
        queries: { "{{service}}": "max by (service) (coffer_outbox_oldest_age_seconds)" },
      },
      {
        title: "Delivered",
        unit: "ops",
        queries: { "{{service}}": "sum by (service) (rate(coffer_outbox_delivered_total[$__rate_interval]))" },
      },
      { title: "Parked", unit: "short", queries: { "{{service}}": "sum by (service) (coffer_outbox_parked)" } },
      {
        title: "Audit flush, p99",
        unit: "s",
        queries: { "{{service}}": quantile(0.99, "coffer_audit_flush_seconds", "service") },
      },
      {
        title: "Audit partitions exist for the next",
        unit: "s",
        queries: { partitions: "min(coffer_audit_partitions_end_timestamp_seconds > 0) - time()" },
        description: "At least three months.",
      },
    ],
  },
  {
    id: "backups",
    title: "Coffer / Backups",
    panels: [
      {
        title: "Age of the newest backup that a drill has restored",
        unit: "s",
        queries: { age: "time() - max(coffer_restore_drill_backup_timestamp_seconds > 0)" },
        description: "At most eight days, with a backup each night and a drill each week.",
      },
      {
        title: "Newest drill failed",
        unit: "short",
        queries: { failed: "max(coffer_restore_drill_failed)" },
        description: "1: the backup is not whole.",
      },
      {
        title: "Duration of the drill",
        unit: "s",
        queries: { duration: "max(coffer_restore_drill_duration_seconds)" },
        description: "A restore takes about as long.",
      },
      {
        title: "In the restored backup",
        unit: "short",
        queries: {
          "audit chains": "max(coffer_restore_drill_chains)",
          rows: "max(coffer_restore_drill_rows)",
        },
      },
    ],
  },
  {
    id: "siem",
    title: "Coffer / SIEM",
    panels: [
      { title: "Records that wait", unit: "short", queries: { "{{format}}": "sum by (format) (coffer_siem_backlog)" } },
      {
        title: "Deliveries",
        unit: "ops",
        queries: {
          "{{format}} {{outcome}}": "sum by (format, outcome) (rate(coffer_siem_deliveries_total[$__rate_interval]))",
        },
      },
    ],
  },
  {
    id: "billing",
    title: "Coffer / Billing",
    panels: [
      {
        title: "Events",
        unit: "ops",
        queries: {
          "{{type}} {{outcome}}": "sum by (type, outcome) (rate(coffer_billing_events_total[$__rate_interval]))",
        },
      },
      ratePanel("Requests of the webhook", 'http_route=~"/api/billing/.*"'),
    ],
  },
];

const columns = 2;
const [width, height] = [24 / columns, 8];

/** A dashboard in the form that Grafana imports (schema version 39, of Grafana 11). */
export function dashboardJson({ id, title, panels }: Dashboard): object {
  const datasource = { type: "prometheus", uid: "${datasource}" };
  return {
    uid: `coffer-${id}`,
    title,
    tags: ["coffer"],
    schemaVersion: 39,
    editable: true,
    refresh: "30s",
    time: { from: "now-6h", to: "now" },
    templating: {
      list: [{ name: "datasource", type: "datasource", query: "prometheus", label: "Data source", hide: 0 }],
    },
    panels: panels.map(({ title: name, unit, queries, description }, index) => ({
      id: index + 1,
      type: "timeseries",
      title: name,
      ...(description === undefined ? {} : { description }),
      datasource,
      gridPos: { x: (index % columns) * width, y: Math.floor(index / columns) * height, w: width, h: height },
      fieldConfig: { defaults: { unit, min: 0, custom: { showPoints: "never", fillOpacity: 8 } }, overrides: [] },
      options: { legend: { displayMode: "list", placement: "bottom" }, tooltip: { mode: "multi", sort: "desc" } },
      targets: Object.entries(queries).map(([legendFormat, expr], target) => ({
        refId: String.fromCharCode("A".charCodeAt(0) + target),
        datasource,
        expr,
        legendFormat,
      })),
    })),
  };
}
