/** What is read only when it is asked for. */
export interface Include {
  /** Items that were put into an archive. */
  archived: boolean;
  /** Items in a recycle bin. */
  deleted: boolean;
}
