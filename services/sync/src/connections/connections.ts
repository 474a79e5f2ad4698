import type { Connection } from "./connection.ts";

/** The open connections of this replica. */
export interface Connections {
  readonly size: number;
  add(connection: Connection): void;
  remove(connection: Connection): void;
  ofUser(userId: string): Iterable<Connection>;
  ofSession(sessionId: string): Iterable<Connection>;
  all(): Iterable<Connection>;
  hasUser(userId: string): boolean;
}

type Index = Map<string, Set<Connection>>;
const none: ReadonlySet<Connection> = new Set();

export function createConnections(): Connections {
  const all = new Set<Connection>();
  const byUser: Index = new Map();
  const bySession: Index = new Map();
  return {
    get size() {
      return all.size;
    },
    add: (connection) => {
      all.add(connection);
      addTo(byUser, connection.holder.userId, connection);
      addTo(bySession, connection.holder.sessionId, connection);
    },
    remove: (connection) => {
      all.delete(connection);
      removeFrom(byUser, connection.holder.userId, connection);
      removeFrom(bySession, connection.holder.sessionId, connection);
    },
    ofUser: (userId) => byUser.get(userId) ?? none,
    ofSession: (sessionId) => bySession.get(sessionId) ?? none,
    all: () => all,
    hasUser: (userId) => byUser.has(userId),
  };
}

function addTo(index: Index, key: string, connection: Connection): void {
  const found = index.get(key);
  if (found === undefined) index.set(key, new Set([connection]));
  else found.add(connection);
}

function removeFrom(index: Index, key: string, connection: Connection): void {
  const found = index.get(key);
  if (found?.delete(connection) && found.size === 0) index.delete(key);
}
