export const importFormats = [
  "bitwarden-json",
  "bitwarden-csv",
  "1pux",
  "keepass-xml",
  "chrome-csv",
  "lastpass-csv",
  "csv",
  "coffer-json",
] as const;
export type ImportFormat = (typeof importFormats)[number];

export const exportFormats = [
  "coffer-json",
  "bitwarden-json",
  "bitwarden-csv",
  "1pux",
  "keepass-xml",
  "chrome-csv",
  "lastpass-csv",
] as const;
export type ExportFormat = (typeof exportFormats)[number];
