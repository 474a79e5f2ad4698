/** Items that are read only on request. */
export interface Include {
  /** Archived items. */
  archived: boolean;
  /** Items in a recycle bin. */
  deleted: boolean;
}
