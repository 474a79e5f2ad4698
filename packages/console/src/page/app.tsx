import { useEffect, useState } from "preact/hooks";
import { m } from "../messages/messages.ts";
import { Toast } from "./parts/toast.tsx";
import { forgetOpen, invitation, place } from "./router.ts";
import { About } from "./screens/about.tsx";
import { Account } from "./screens/account.tsx";
import { Audit } from "./screens/organization/audit.tsx";
import { Destinations } from "./screens/organization/destinations.tsx";
import { Folders } from "./screens/platform/folders.tsx";
import { HelpDialog } from "./screens/help.tsx";
import { Import } from "./screens/records/import.tsx";
import { Join } from "./screens/session/join.tsx";
import { Machines } from "./screens/platform/machines.tsx";
import { Matrix } from "./screens/platform/matrix.tsx";
import { Organization } from "./screens/organization/organization.tsx";
import { Palette } from "./screens/palette.tsx";
import { People } from "./screens/organization/people.tsx";
import { Recover } from "./screens/session/recover.tsx";
import { Register } from "./screens/session/register.tsx";
import { SignIn } from "./screens/session/sign-in.tsx";
import { ToDo } from "./screens/organization/to-do.tsx";
import { Trust } from "./screens/organization/trust.tsx";
import { Travel } from "./screens/records/travel.tsx";
import { Unlock } from "./screens/session/unlock.tsx";
import { Vaults } from "./screens/records/vaults.tsx";
import { call, search, shownVault, state } from "./store.ts";
import { throttled } from "./throttled.ts";
import { typedEmail } from "./typed-email.ts";

/** The person's keys and clicks put off the idle lock, at most every ten seconds. */
const touch = throttled(10_000, () => void call("touch"));

export function App() {
  const { phase } = state.value;
  useEffect(() => {
    for (const event of ["keydown", "pointerdown"]) addEventListener(event, touch, { passive: true });
  }, []);
  useEffect(() => {
    if (phase === "unlocked") typedEmail.value = "";
    if (phase !== "locked" && phase !== "signed-out") return;
    search.value = "";
    shownVault.value = null;
    forgetOpen();
  }, [phase]);
  return (
    <>
      <Screen />
      <Toast />
    </>
  );
}

/** The screen of the path, and what Ctrl-K opens over each of them. */
function Unlocked() {
  const [open, setOpen] = useState<"none" | "palette" | "help">("none");
  useEffect(() => {
    const keys = (event: KeyboardEvent): void => {
      const isPalette = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k";
      if (!isPalette || document.querySelector("dialog") !== null) return;
      event.preventDefault();
      setOpen("palette");
    };
    document.addEventListener("keydown", keys);
    return () => document.removeEventListener("keydown", keys);
  }, []);
  return (
    <>
      <Place />
      {open === "palette" && <Palette onHelp={() => setOpen("help")} onClose={() => setOpen("none")} />}
      {open === "help" && <HelpDialog onClose={() => setOpen("none")} />}
    </>
  );
}

function Place() {
  // Another organization is another screen, in all tabs: nothing that one of them shows is sent to the other.
  const { organization } = state.value.settings;
  switch (place.value.path) {
    case "/travel":
      return <Travel />;
    case "/join":
      return <Join />;
    case "/people":
      return <People key={organization} />;
    case "/folders":
      return <Folders key={organization} />;
    case "/matrix":
      return <Matrix key={organization} />;
    case "/machines":
      return <Machines key={organization} />;
    case "/account":
      return <Account />;
    case "/trust":
      return <Trust key={organization} />;
    case "/about":
      return <About />;
    case "/destinations":
      return <Destinations key={organization} />;
    case "/import":
      return <Import />;
    case "/to-do":
      return <ToDo key={organization} />;
    case "/organization":
      return <Organization key={organization} />;
    case "/audit":
      return <Audit key={organization} />;
    case "/":
    case "/recover":
    case "/register":
      return <Vaults />;
  }
}

function Screen() {
  if (!isSecureContext)
    return (
      <main class="gate">
        <h1>{m.insecureTitle}</h1>
        <p>{m.insecure}</p>
      </main>
    );
  switch (state.value.phase) {
    case "starting":
      return null;
    case "locked":
      return <Unlock />;
    case "unlocked":
      return <Unlocked />;
    case "signed-out":
      if (place.value.path === "/recover") return <Recover />;
      return place.value.path === "/register" || (place.value.path === "/join" && invitation.value !== "") ? (
        <Register />
      ) : (
        <SignIn />
      );
  }
}
