import { sha256Hex } from "@coffer/crypto";
import { indexedDbStorage } from "@coffer/sdk/browser";

interface Stored {
  id: string;
  /** The device credential of each account, by the SHA-256 of its e-mail. */
  credentials: Record<string, string>;
}

const storage = indexedDbStorage("coffer device");

/** The description of this browser for a service. It holds no secret and names no account. */
export interface ConsoleDevice {
  device(): Promise<{ id: string; name: string; type: string }>;
  credential(email: string): Promise<string | undefined>;
  /** Stores the credential for the next login, which others then cannot delay. */
  keepCredential(email: string, credential: string | undefined): Promise<void>;
}

export function consoleDevice(): ConsoleDevice {
  const load = async (): Promise<Stored> => {
    const text = await storage.load();
    if (text !== undefined) return JSON.parse(text) as Stored; // nothing else writes it
    const made = { id: crypto.randomUUID(), credentials: {} };
    await storage.save(JSON.stringify(made));
    return made;
  };
  const keyOf = (email: string): Promise<string> =>
    sha256Hex(new TextEncoder().encode(email.trim().normalize("NFKC").toLowerCase()));
  return {
    async device() {
      return { id: (await load()).id, name: browserName(), type: "web" };
    },
    async credential(email) {
      return (await load()).credentials[await keyOf(email)];
    },
    async keepCredential(email, credential) {
      if (credential === undefined) return;
      const stored = await load();
      stored.credentials[await keyOf(email)] = credential;
      await storage.save(JSON.stringify(stored));
    },
  };
}

/** A name by which a person recognizes the session in a list. */
function browserName(): string {
  const agent = navigator.userAgent;
  const browser = [/Firefox\/(\d+)/, /Edg\/(\d+)/, /Chrome\/(\d+)/, /Version\/(\d+).* Safari/]
    .map((pattern, at) => [pattern.exec(agent)?.[1], ["Firefox", "Edge", "Chrome", "Safari"][at]] as const)
    .find(([version]) => version !== undefined);
  const system = /Windows|Mac OS X|Android|iPhone|iPad|Linux/.exec(agent)?.[0];
  const parts = [browser === undefined ? "a browser" : `${browser[1] ?? ""} ${browser[0] ?? ""}`, system];
  return parts.filter((part) => part !== undefined).join(", ");
}
