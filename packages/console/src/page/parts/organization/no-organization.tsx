import { m } from "../../../messages/messages.ts";
import { go, place } from "../../router.ts";

/** What a person without an organization can do on a screen that needs one. */
export function NoOrganization() {
  return (
    <>
      <p>{m.noOrganization}</p>
      <p class="buttons">
        {place.value.path !== "/organization" && (
          <button onClick={() => go({ path: "/organization" })}>{m.organizationNew}</button>
        )}
        <button onClick={() => go({ path: "/join" })}>{m.joinTitle}</button>
        <code class="command">{m.organizationCommand}</code>
      </p>
    </>
  );
}
