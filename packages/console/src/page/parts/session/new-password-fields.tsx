import { useState } from "preact/hooks";
import { m } from "../../../messages/messages.ts";
import { Field } from "../field.tsx";

const shortest = 10;

export interface ChosenPassword {
  password: string;
  again: string;
  wrong: { password?: string; again?: string };
  setPassword: (text: string) => void;
  setAgain: (text: string) => void;
  /** Shows what is wrong with it; true when nothing is. */
  check: () => boolean;
}

/** A new password, typed twice. */
export function useNewPassword(): ChosenPassword {
  const [password, setPassword] = useState("");
  const [again, setAgain] = useState("");
  const [wrong, setWrong] = useState<ChosenPassword["wrong"]>({});
  const check = (): boolean => {
    const found = {
      ...(Array.from(password).length < shortest ? { password: m.passwordShort } : {}),
      ...(password === again ? {} : { again: m.passwordsDiffer }),
    };
    setWrong(found);
    return Object.keys(found).length === 0;
  };
  return { password, again, wrong, setPassword, setAgain, check };
}

export function NewPasswordFields({ chosen, label }: { chosen: ChosenPassword; label: string }) {
  const { password, again, wrong, setPassword, setAgain } = chosen;
  return (
    <>
      <Field
        label={label}
        type="password"
        value={password}
        onInput={setPassword}
        autocomplete="new-password"
        hint={m.passwordHint}
        problem={wrong.password}
        required
      />
      <Field
        label={m.passwordAgain}
        type="password"
        value={again}
        onInput={setAgain}
        autocomplete="new-password"
        problem={wrong.again}
        required
      />
    </>
  );
}
