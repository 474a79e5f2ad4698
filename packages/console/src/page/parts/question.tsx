import { m } from "../../messages/messages.ts";

interface QuestionProps {
  title: string;
  text: string;
  action: string;
  busy: boolean;
  onYes: () => void;
  onNo: () => void;
}

/** Asks before something that cannot be undone, on the screen and not over it. */
export function Question({ title, text, action, busy, onYes, onNo }: QuestionProps) {
  return (
    <section class="notice" aria-label={title}>
      <p>{text}</p>
      <p class="buttons">
        <button class="danger" disabled={busy} onClick={onYes}>
          {action}
        </button>
        <button onClick={onNo}>{m.cancel}</button>
      </p>
    </section>
  );
}
