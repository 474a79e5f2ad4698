export { createAuditLog } from "./audit-log.ts";
export { type Deliver, deliverOver, type DeliveryBus, type RelayedSubject } from "./deliver.ts";
export {
  auditPayload,
  enqueue,
  enqueueAudit,
  enqueueAudits,
  enqueueEach,
  laneOf,
  outboxColumns,
  outboxValues,
} from "./enqueue.ts";
export { type GroupedWrite, prepareGroupedWrite } from "./grouped-write.ts";
export { listWaiting } from "./list-waiting.ts";
export { outboxMigrations } from "./migrations.ts";
export { type Relay, type RelayOptions, startRelay } from "./relay.ts";
