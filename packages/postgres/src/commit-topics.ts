import type { Transaction } from "./sql.ts";

/** By slonik's transaction id. */
const announced = new Map<string, Set<string>>();

/** When the transaction has committed, the listeners of `onCommit` receive this topic. */
export function announceAtCommit({ transactionId }: Transaction, topic: string): void {
  const topics = announced.get(transactionId) ?? new Set();
  announced.set(transactionId, topics.add(topic));
}

/** Returns and removes the topics of a transaction. */
export function takeAnnounced(transactionId: string): ReadonlySet<string> {
  const topics = announced.get(transactionId) ?? new Set();
  announced.delete(transactionId);
  return topics;
}
