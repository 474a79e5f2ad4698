import { useEffect, useState } from "preact/hooks";
import { m } from "../../messages/messages.ts";
import type { OneTimeCode } from "../../protocol/records.ts";
import { copy } from "../copy.ts";
import { explain } from "../explain.ts";
import { call } from "../store.ts";

/** The present one-time code, with the seconds that it is valid. */
export function CodeView({ id }: { id: string }) {
  const [code, setCode] = useState<OneTimeCode | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [now, setNow] = useState(Date.now());
  const left = code === null ? 0 : Math.max(0, Math.ceil((code.until - now) / 1000));
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  useEffect(() => {
    if (left > 0 || problem !== null) return;
    call("oneTimeCode", id).then(setCode, (error: unknown) => setProblem(explain(error)));
  }, [id, left]);
  return (
    <div>
      <dt>{m.oneTimeCode}</dt>
      <dd>
        {problem === null ? (
          <>
            <span class="value mono code">{code === null ? "" : grouped(code.code)}</span>
            <span class="hint">{code === null ? "" : m.secondsLeft(left)}</span>
            <span class="buttons">
              <button
                aria-label={`${m.copy}: ${m.oneTimeCode}`}
                onClick={() => void copy(m.oneTimeCode, async () => (await call("oneTimeCode", id)).code)}
              >
                {m.copy}
              </button>
            </span>
          </>
        ) : (
          <span class="problem">{problem}</span>
        )}
      </dd>
    </div>
  );
}

function grouped(code: string): string {
  return code.length === 6 ? `${code.slice(0, 3)} ${code.slice(3)}` : code;
}
