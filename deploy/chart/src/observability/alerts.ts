import { burnRates, objectives, recordOf, windows } from "./objectives.ts";

/** A rule of Prometheus. */
export interface Rule {
  alert?: string;
  record?: string;
  expr: string;
  for?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}

export interface RuleGroup {
  name: string;
  rules: Rule[];
}

/** The page of the runbooks in the checkout; the chart can prefix another address. */
export const runbookPage = "docs/operations/runbooks.md";

interface Alert {
  name: string;
  /** `page` wakes a person: users are affected now. `ticket` waits for the morning. */
  severity: "page" | "ticket";
  expr: string;
  for?: string;
  summary: string;
}

/** Faults that no service level objective covers. */
const alerts: readonly Alert[] = [
  {
    name: "CofferServiceGone",
    severity: "page",
    // The alert ends after this day, or when the service is back.
    expr: "group by (service) (last_over_time(coffer_build_info[1d])) unless group by (service) (coffer_build_info)",
    for: "5m",
    summary: "No replica of {{ $labels.service }} has been scraped for 5 minutes.",
  },
  {
    name: "CofferOutboxStuck",
    severity: "page",
    expr: "max by (service) (coffer_outbox_oldest_age_seconds) > 300",
    for: "5m",
    summary: "A message in the outbox of {{ $labels.service }} has waited for {{ $value | humanizeDuration }}.",
  },
  {
    name: "CofferOutboxParked",
    severity: "ticket",
    expr: "sum by (service) (coffer_outbox_parked) > 0",
    for: "15m",
    summary: "{{ $value }} messages of {{ $labels.service }} failed so often that they are tried once an hour.",
  },
  {
    name: "CofferSyncPushSlow",
    severity: "page",
    expr: "histogram_quantile(0.99, sum by (service, le) (rate(coffer_sync_push_latency_seconds_bucket[5m]))) > 5",
    for: "10m",
    summary: "1 % of the pushes to devices take longer than {{ $value | humanizeDuration }}.",
  },
  {
    name: "CofferSyncConnectionsLost",
    severity: "page",
    // The average of the sum: pods that a rollout has replaced count only for the time in which they ran.
    expr:
      "sum by (service) (coffer_sync_connections) < 0.5 * avg_over_time(sum by (service) (coffer_sync_connections)[1h:1m] offset 10m)" +
      " and avg_over_time(sum by (service) (coffer_sync_connections)[1h:1m] offset 10m) > 20",
    for: "5m",
    summary: "More than half of the devices have lost their connection.",
  },
  {
    name: "CofferSyncMomentHeld",
    severity: "ticket",
    expr: "max by (service) (coffer_sync_tick_age_seconds) > 60",
    for: "5m",
    summary: "A transaction that does not end holds back what devices sync, for {{ $value | humanizeDuration }} now.",
  },
  {
    name: "CofferLimiterDegraded",
    severity: "ticket",
    expr: "max by (service) (coffer_ratelimit_degraded) == 1",
    for: "10m",
    summary: "{{ $labels.service }} has no Redis: each replica counts the limits for itself.",
  },
  {
    name: "CofferBusDisconnected",
    severity: "page",
    expr: "min by (service) (coffer_bus_connected) == 0",
    for: "5m",
    summary: "A replica of {{ $labels.service }} has no connection to NATS.",
  },
  {
    name: "CofferBusRefused",
    severity: "page",
    expr:
      "max by (service) (coffer_bus_refused_subscriptions) > 0" +
      ' or sum by (service) (increase(coffer_bus_refusals_total{operation="publish"}[15m])) > 0' +
      // NATS refuses the replies that are under way while it reloads. A missing permission refuses all.
      ' or sum by (service) (increase(coffer_bus_refusals_total{operation="reply"}[2m])) > 0',
    for: "5m",
    summary: "NATS refuses subjects to {{ $labels.service }}: its user lacks permissions.",
  },
  {
    name: "CofferDatabaseNotWritable",
    severity: "page",
    expr: "min by (service) (coffer_db_writable) == 0",
    for: "1m",
    summary: "The Postgres of {{ $labels.service }} takes no writes: it is away, its disk is full, or it is read-only.",
  },
  {
    name: "CofferDatabasePoolSaturated",
    severity: "page",
    expr: "max by (service, pool) (min_over_time(coffer_db_pool_waiting[5m])) > 0",
    for: "10m",
    summary: "Callers in {{ $labels.service }} wait for a connection of the pool {{ $labels.pool }} all the time.",
  },
  {
    name: "CofferEventLoopLag",
    severity: "ticket",
    expr: "max by (service) (nodejs_eventloop_lag_p99_seconds) > 0.25",
    for: "10m",
    summary: "The event loop of {{ $labels.service }} is late by {{ $value | humanizeDuration }}.",
  },
  {
    name: "CofferAuthFailures",
    severity: "ticket",
    expr:
      "sum by (service) (rate(coffer_auth_failures_total[10m])) > 1" +
      // `unless`: after a day without a refusal there is nothing to compare with.
      " unless sum by (service) (rate(coffer_auth_failures_total[10m])) <= 5 * sum by (service) (rate(coffer_auth_failures_total[1d] offset 10m))",
    for: "10m",
    summary: "{{ $labels.service }} refuses {{ $value | humanize }} callers a second, far more than in the day before.",
  },
  {
    name: "CofferSiemBacklog",
    severity: "ticket",
    expr: "sum by (service, format) (coffer_siem_backlog) > 10000",
    for: "15m",
    summary: "{{ $value }} audit records wait for endpoints of the format {{ $labels.format }}.",
  },
  {
    name: "CofferSiemDeliveryFailing",
    severity: "ticket",
    // Retries become hourly, with jitter. Waiting records tell an endpoint that fails from one that
    // was repaired.
    expr:
      'sum by (service, format) (rate(coffer_siem_deliveries_total{outcome="failed"}[90m])) > 0' +
      ' unless sum by (service, format) (rate(coffer_siem_deliveries_total{outcome="delivered"}[30m])) > 0' +
      " and sum by (service, format) (coffer_siem_backlog) > 0",
    for: "30m",
    summary: "No delivery to an endpoint of the format {{ $labels.format }} has succeeded for 30 minutes.",
  },
  {
    name: "CofferBillingSignatures",
    severity: "ticket",
    // Stripe repeats a single refused event about five times in six hours.
    expr: 'sum by (service) (increase(coffer_billing_events_total{outcome="bad_signature"}[6h])) > 3',
    summary: "{{ $value | humanize }} billing events had a wrong signature: the secret may have been changed.",
  },
  {
    name: "CofferBillingUnknownPrice",
    severity: "ticket",
    // Stripe sends no further event until the next period, and the plan stays wrong: a day, to be seen.
    expr: 'sum by (service) (increase(coffer_billing_events_total{outcome="unknown_price"}[1d])) > 0',
    summary: "A subscription has a price that no plan of the configuration names.",
  },
  {
    name: "CofferMembershipsDisbelieved",
    // People belong to no organization meanwhile.
    severity: "page",
    expr: "max by (service) (coffer_memberships_disbelieved) == 1",
    for: "5m",
    summary:
      "auth-sm lists no membership at all, and {{ $labels.service }} knows some: people belong to no organization.",
  },
  {
    name: "CofferLogLinesLost",
    severity: "ticket",
    expr: "sum by (service) (increase(coffer_log_lines_lost_total[15m])) > 0",
    summary: "{{ $labels.service }} could not write {{ $value | humanize }} log lines: the disk may be full.",
  },
  {
    name: "CofferMigrationFailed",
    severity: "page",
    // Of kube-state-metrics. kube_job_status_failed counts pods: also those of a Job whose next pod
    // succeeded.
    expr: 'max by (namespace, job_name) (kube_job_failed{condition="true",job_name=~".*migrate-.*"}) == 1',
    summary: "The migration job {{ $labels.job_name }} has failed.",
  },
  {
    name: "CofferBackupFailed",
    severity: "ticket",
    expr: 'max by (namespace, job_name) (kube_job_failed{condition="true",job_name=~".*-(backup|restore-drill)-.*"}) == 1',
    summary: "The job {{ $labels.job_name }} has failed: the backups of before are still there.",
  },
  {
    name: "CofferRestoreDrillFailed",
    severity: "ticket",
    expr: "max by (service) (coffer_restore_drill_failed) == 1",
    summary: "The newest restore drill found a backup that is not whole.",
  },
  {
    name: "CofferRestoreDrillMissed",
    severity: "ticket",
    // A backup each night and a drill each week: the backup of a drill is eight days old when the
    // next one should end.
    expr: `time() - max by (service) (coffer_restore_drill_backup_timestamp_seconds > 0) > ${9 * 86_400}`,
    summary: "The newest backup that a drill has restored is {{ $value | humanizeDuration }} old.",
  },
  {
    name: "CofferAuditPartitionsMissing",
    severity: "ticket",
    // Partitions are made three months ahead, and looked after each hour.
    expr: `min by (service) (coffer_audit_partitions_end_timestamp_seconds > 0) - time() < ${31 * 86_400}`,
    summary: "The last month with a partition of the audit ends in {{ $value | humanizeDuration }}.",
  },
];

/** All rules, in the form of a rule file of Prometheus. */
export function ruleGroups(): RuleGroup[] {
  return [
    {
      name: "coffer-objectives-recorded",
      rules: objectives.flatMap((objective) =>
        windows.map((window) => ({
          record: recordOf(objective, window),
          expr: `${objective.bad} / (${objective.all} > 0)`.replaceAll("$window", window),
        })),
      ),
    },
    { name: "coffer-objectives", rules: objectives.flatMap(burnAlerts) },
    { name: "coffer", rules: alerts.map((alert) => alertRule(alert)) },
  ];
}

function burnAlerts(objective: (typeof objectives)[number]): Rule[] {
  const { name, budget } = objective;
  return burnRates.map(({ factor, long, short, severity }) => {
    const most = Number((factor * budget).toPrecision(6));
    const expr = `${recordOf(objective, long)} > ${most} and ${recordOf(objective, short)} > ${most}`;
    const summary =
      `{{ $labels.service }} spends its error budget ${factor} times too fast: {{ $value | humanizePercentage }} of its ` +
      `${objective.events} over ${long} ${objective.fault}.`;
    return alertRule({ name: `Coffer${name}Burn`, severity, expr, summary }, { window: long });
  });
}

function alertRule({ name, severity, expr, for: wait, summary }: Alert, labels: Record<string, string> = {}): Rule {
  return {
    alert: name,
    expr,
    ...(wait === undefined ? {} : { for: wait }),
    labels: { severity, ...labels },
    annotations: { summary, runbook_url: `${runbookPage}#${name.toLowerCase()}` },
  };
}
