import type { NotImported } from "../../../protocol/transfer.ts";

/** The parts that a file or a vault has and the other cannot hold. */
export function LeftOut({ title, parts }: { title: string; parts: readonly NotImported[] }) {
  if (parts.length === 0) return null;
  return (
    <details open>
      <summary>{title}</summary>
      <ul class="commands">
        {parts.map(({ item, reason }, index) => (
          <li key={index} class="problem">
            {item === null ? reason : `${item}: ${reason}`}
          </li>
        ))}
      </ul>
    </details>
  );
}
