import { m } from "../../messages/messages.ts";
import { typedEmail } from "../typed-email.ts";
import { Field } from "./field.tsx";

/** The e-mail address of the account. Signing in, registering and recovery share what was typed. */
export function EmailField() {
  return (
    <Field
      label={m.email}
      type="email"
      value={typedEmail.value}
      onInput={(text) => (typedEmail.value = text)}
      autocomplete="username"
      required
      focused
    />
  );
}
