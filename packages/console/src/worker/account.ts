import type { AccountView, ConfirmedFactor } from "../protocol/account.ts";
import { codeOf } from "@coffer/sdk/code-of";
import type { Workspace } from "./workspace.ts";

export async function accountView({ client }: Workspace): Promise<AccountView> {
  const [account, { words }, sessions] = await Promise.all([
    client.account(),
    client.fingerprint(),
    client.sessions.list(),
  ]);
  return {
    hasSecondFactor: account.totp_enabled,
    words,
    sessions: sessions.map(({ id, device, last_used_at: lastUsedAt, ip, current }) => {
      return { id, name: device.name, lastUsedAt, ip, current };
    }),
  };
}

export async function endSession(workspace: Workspace, id: string | null): Promise<AccountView> {
  const { sessions } = workspace.client;
  await (id === null ? sessions.endOthers() : sessions.end(id));
  return accountView(workspace);
}

export async function confirmSecondFactor({ security }: Workspace, code: string): Promise<ConfirmedFactor> {
  try {
    return { recoveryCodes: await (await security()).confirmTotp(code) };
  } catch (error) {
    const refusal = codeOf(error);
    if (refusal === "invalid_request") return { refused: "wrong_code" };
    if (refusal === "conflict") return { refused: "start_again" };
    throw error;
  }
}
