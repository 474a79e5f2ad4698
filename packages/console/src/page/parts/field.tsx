import type { JSX } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";

export interface FieldProps {
  label: string;
  value: string;
  onInput: (value: string) => void;
  type?: "text" | "email" | "password";
  lines?: boolean;
  hint?: string | undefined;
  problem?: string | null | undefined;
  autocomplete?: string;
  required?: boolean;
  focused?: boolean;
  mono?: boolean;
  children?: JSX.Element | null;
}

/** A labelled input, with its hint and its error beside it. */
export function Field(props: FieldProps) {
  const { label, value, onInput, type = "text", lines, hint, problem, autocomplete = "off", required, focused } = props;
  const id = useId();
  const input = useRef<HTMLInputElement & HTMLTextAreaElement>(null);
  const before = useRef(lines);
  // At once: what the person types next must not reach another field. Other lines are another element.
  useLayoutEffect(() => {
    if (focused === true || before.current !== lines) input.current?.focus();
    before.current = lines;
  }, [focused, lines]);
  const hasProblem = problem !== null && problem !== undefined && problem !== "";
  // The first field with an error takes the focus.
  useLayoutEffect(() => {
    if (hasProblem && document.querySelector("[aria-invalid=true]") === input.current) input.current?.focus();
  }, [hasProblem]);
  const described = [hint === undefined ? "" : `${id}-hint`, hasProblem ? `${id}-problem` : ""].join(" ").trim();
  const common = {
    id,
    ref: input,
    value,
    required,
    autocomplete,
    // A dialog focuses this one when it opens.
    autofocus: focused === true,
    spellcheck: false,
    class: props.mono === true ? "mono" : "",
    "aria-invalid": hasProblem,
    ...(described === "" ? {} : { "aria-describedby": described }),
    onInput: (event: Event) => onInput((event.currentTarget as HTMLInputElement).value), // its own input
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <div class="control">
        {lines === true && <textarea rows={4} {...common} />}
        {lines !== true && type === "text" && <input type="text" {...common} />}
        {lines !== true && type === "email" && <input type="email" {...common} />}
        {lines !== true && type === "password" && <input type="password" {...common} />}
        {props.children}
      </div>
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {hasProblem && (
        <p class="problem" id={`${id}-problem`} role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}
