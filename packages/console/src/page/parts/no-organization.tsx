import { m } from "../../messages/messages.ts";
import { go } from "../router.ts";

/** What a person without an organization can do on a screen that needs one. */
export function NoOrganization() {
  return (
    <>
      <p>{m.noOrganization}</p>
      <p class="buttons">
        <button onClick={() => go({ path: "/join" })}>{m.joinTitle}</button>
        <code class="command">{m.organizationCommand}</code>
      </p>
    </>
  );
}
