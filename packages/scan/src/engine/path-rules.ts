const inTests = /(?:^|[^a-z])(?:tests?|testing|testdata|fixtures?)(?![a-z])|[a-z](?:Tests?|Fixtures?)(?![a-z])/;
const lockFile =
  /(?:^|\/)(?:package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|Cargo\.lock|Gemfile\.lock|composer\.lock|poetry\.lock|uv\.lock|Pipfile\.lock|go\.sum|flake\.lock|mix\.lock|pubspec\.lock|Podfile\.lock|packages\.lock\.json|deno\.lock|[^/]+\.dist-info\/RECORD)$/;

/** Whether a path names tests or fixtures, where a finding is less sure. */
export function isTestPath(path: string): boolean {
  return inTests.test(path.replace(/[A-Z]{2,}/g, (capitals) => capitals.toLowerCase()));
}

/** Whether a path is that of a lock file, which is full of hashes. */
export function isLockFile(path: string): boolean {
  return lockFile.test(path);
}
