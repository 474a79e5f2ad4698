interface EmptyProps {
  title: string;
  text: string;
  /** The command that does the same. */
  command?: string;
  action?: readonly [name: string, run: () => void] | undefined;
}

/** The empty state of a list: the next step, and its command. */
export function Empty({ title, text, command, action }: EmptyProps) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      <p>{text}</p>
      {action !== undefined && (
        <button class="primary" onClick={action[1]}>
          {action[0]}
        </button>
      )}
      {command !== undefined && <code>{command}</code>}
    </div>
  );
}
