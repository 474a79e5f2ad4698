export const vaultPath = (id: string): string => `/api/vaults/${encodeURIComponent(id)}`;
export const recordPath = (vaultId: string, id: string): string =>
  `${vaultPath(vaultId)}/records/${encodeURIComponent(id)}`;
