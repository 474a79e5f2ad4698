import { m } from "../../messages/messages.ts";
import type { ToRotate } from "../../protocol.ts";

/** Names the folders and vaults that need a new key, with the command for each. */
export function RotateNotice({ rotate }: { rotate: readonly ToRotate[] }) {
  if (rotate.length === 0) return null;
  return (
    <div role="status" class="notice">
      <p>{m.rotateAfter}</p>
      <ul>
        {rotate.map(({ kind, name }) => (
          <li key={`${kind} ${name}`}>
            {name}: <code>{`coffer ${kind} rotate ${JSON.stringify(name)}`}</code>
          </li>
        ))}
      </ul>
    </div>
  );
}
