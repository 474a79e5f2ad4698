import { useState } from "preact/hooks";
import { rotateCommand } from "../../../commands.ts";
import { m } from "../../../messages/messages.ts";
import type { Rotated, ToRotate } from "../../../protocol/sharing.ts";
import { call } from "../../store.ts";
import { useAction } from "../../use-action.ts";
import { Problem } from "../problem.tsx";

/** Names the folders and vaults that need a new key, and gives it. */
export function RotateNotice({ rotate }: { rotate: readonly ToRotate[] }) {
  if (rotate.length === 0) return null;
  return (
    <section aria-label={m.rotateTitle} class="notice">
      <p>{m.rotateAfter}</p>
      <ul class="members">
        {rotate.map((each) => (
          <li key={each.id}>
            <Rotation rotate={each} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Rotation({ rotate: { kind, id, name } }: { rotate: ToRotate }) {
  const [rotated, setRotated] = useState<Rotated | null>(null);
  const { busy, problem, run } = useAction();
  return (
    <>
      <span>
        {name} <code>{rotateCommand(kind, name)}</code>
      </span>
      {rotated === null ? (
        <button
          disabled={busy}
          aria-label={m.rotateOf(name)}
          onClick={() => run(async () => setRotated(await call("rotate", { kind, id })))}
        >
          {m.rotate}
        </button>
      ) : (
        <RotatedNotice rotated={rotated} />
      )}
      <Problem text={problem} />
    </>
  );
}

/** The result of a rotation. */
export function RotatedNotice({ rotated: { without, unopened } }: { rotated: Rotated }) {
  return (
    <div role="status">
      <p class="good">{m.rotated}</p>
      {without.length > 0 && <p class="problem">{m.membersWithout(without.join(", "))}</p>}
      {unopened.length > 0 && <p class="problem">{m.unopened(unopened.join(", "))}</p>}
    </div>
  );
}
