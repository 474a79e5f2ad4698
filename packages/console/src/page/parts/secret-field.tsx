import { useState } from "preact/hooks";
import { m } from "../../messages/messages.ts";
import { Field } from "./field.tsx";
import type { FieldProps } from "./field.tsx";

/**
 * A hidden input that the person may show. A text of several lines, such as a private key, is pasted whole: an input
 * of one line would drop its line breaks.
 */
export function SecretField(props: Omit<FieldProps, "type" | "lines" | "mono" | "children">) {
  const { label, value, onInput } = props;
  const [shown, setShown] = useState(false);
  const lines = value.includes("\n");
  const paste = (event: ClipboardEvent): void => {
    const text = event.clipboardData?.getData("text") ?? "";
    if (lines || !text.trim().includes("\n")) return;
    event.preventDefault();
    onInput(text);
  };
  return (
    <div class={lines && !shown ? "concealed" : ""} onPaste={paste}>
      <Field {...props} type={shown ? "text" : "password"} lines={lines} mono>
        <button type="button" aria-label={`${shown ? m.hide : m.show}: ${label}`} onClick={() => setShown(!shown)}>
          {shown ? m.hide : m.show}
        </button>
      </Field>
    </div>
  );
}
