/** From an empty installation to a decrypted secret in a program's environment: the lines to paste, one by one. */
export const firstMinute: readonly string[] = [
  'npx coffer register --email you@example.com --org "Example"',
  "npx coffer folder create production",
  "printf 's3cret' | npx coffer set coffer://production/database/field/password",
  "npx coffer app create api",
  "npx coffer token create --app api --folder production:read",
  "npx coffer bootstrap --config machine.json",
  "DB_PASSWORD=coffer://production/database/field/password npx coffer run --config machine.json -- printenv DB_PASSWORD",
];
