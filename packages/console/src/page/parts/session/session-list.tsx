import { m } from "../../../messages/messages.ts";
import type { SessionView } from "../../../protocol/account.ts";
import { momentOf } from "../../dates.ts";

interface SessionsProps {
  sessions: readonly SessionView[];
  busy: boolean;
  onEnd: (id: string) => void;
}

/** Sessions with their devices; each but this one can be ended. */
export function SessionList({ sessions, busy, onEnd }: SessionsProps) {
  return (
    <ul class="members">
      {sessions.map(({ id, name, lastUsedAt, ip, current }) => (
        <li key={id}>
          <span>
            {name}
            {current && ` (${m.thisDevice})`}
          </span>
          <span class="hint">
            {m.lastUsed(momentOf(lastUsedAt))}
            {ip !== null && ` · ${ip}`}
          </span>
          {!current && (
            <button disabled={busy} aria-label={m.sessionEndOf(name)} onClick={() => onEnd(id)}>
              {m.sessionEnd}
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}
