/**
 * The paths that answer with the page. None names a vault or a record: travel mode must leave no trace in a
 * browser's history.
 */
export const pagePaths = [
  "/",
  "/register",
  "/recover",
  "/travel",
  "/import",
  "/join",
  "/folders",
  "/matrix",
  "/machines",
  "/to-do",
  "/people",
  "/audit",
  "/destinations",
  "/organization",
  "/account",
  "/trust",
  "/about",
] as const;

export type PagePath = (typeof pagePaths)[number];
