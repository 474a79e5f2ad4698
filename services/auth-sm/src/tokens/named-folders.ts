/** A page of the audit has up to 1,000 records. */
const mostNamed = 50;

/** The folders of a token in the `changes` of an audit record: the first ones, and how many there are. */
export function namedFolders(folderIds: readonly string[]): { folders: string[]; folder_count: number } {
  return { folders: folderIds.slice(0, mostNamed), folder_count: folderIds.length };
}
