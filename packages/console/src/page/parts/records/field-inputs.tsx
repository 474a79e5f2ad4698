import { useRef, useState } from "preact/hooks";
import { m } from "../../../messages/messages.ts";
import { isSecret, kindOf } from "../../../record-fields.ts";
import { fieldName } from "../../field-name.ts";
import { Field } from "../field.tsx";
import { Generator } from "./generator.tsx";

interface InputsProps {
  type: string;
  keys: readonly string[];
  values: Readonly<Record<string, string>>;
  /** Whether fields of the person's own are secret. */
  secrets: Readonly<Record<string, boolean>>;
  onChange: (key: string, value: string) => void;
  /** The field that takes the focus. */
  focusedKey: string;
}

/** Whether the worker could make codes of it, by its letters. A record with another one is saved all the same. */
function isCodeSecret(text: string): boolean {
  return /^(otpauth:.*|[a-z2-7\s=-]*)$/i.test(text);
}

/** The fields of a record as inputs, in order. */
export function FieldInputs({ type, keys, values, secrets, onChange, focusedKey }: InputsProps) {
  const [shown, setShown] = useState<ReadonlySet<string>>(new Set());
  const [generating, setGenerating] = useState(false);
  /** Whether the field was empty: then it has what is made at once, and a person who saves has it. */
  const [filling, setFilling] = useState(false);
  const generate = useRef<HTMLButtonElement>(null);
  return (
    <>
      {keys.map((key) => {
        const secret = secrets[key] ?? isSecret(key, {});
        const kind = kindOf(type, key, secret);
        const visible = !secret || shown.has(key);
        const toggle = (): void =>
          setShown((before) => new Set([...before].filter((each) => each !== key).concat(before.has(key) ? [] : key)));
        return (
          <div key={key}>
            <Field
              label={fieldName(key)}
              value={values[key] ?? ""}
              onInput={(value) => onChange(key, value)}
              type={visible ? "text" : "password"}
              lines={kind === "lines"}
              mono={secret}
              autocomplete={secret ? "new-password" : "off"}
              problem={key === "totp_secret" && !isCodeSecret(values[key] ?? "") ? m.noCode : null}
              required={key === "name"}
              focused={key === focusedKey}
            >
              {secret ? (
                <>
                  <button type="button" aria-label={`${visible ? m.hide : m.show}: ${fieldName(key)}`} onClick={toggle}>
                    {visible ? m.hide : m.show}
                  </button>
                  {key === "password" && (
                    <button
                      ref={generate}
                      type="button"
                      aria-expanded={generating}
                      onClick={() => {
                        setGenerating(!generating);
                        setFilling((values[key] ?? "") === "");
                      }}
                    >
                      {m.generate}
                    </button>
                  )}
                </>
              ) : null}
            </Field>
            {key === "password" && generating && (
              <Generator
                onMade={(value) => {
                  if (filling) onChange(key, value);
                }}
                onUse={(value) => {
                  onChange(key, value);
                  setGenerating(false);
                  generate.current?.focus();
                }}
              />
            )}
          </div>
        );
      })}
    </>
  );
}
