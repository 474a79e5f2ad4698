import type { PagePath } from "../../paths.ts";
import { go } from "../router.ts";

/** A link to another screen, without loading the page again. */
export function Link({ path, text }: { path: PagePath; text: string }) {
  return (
    <a
      href={path}
      onClick={(event) => {
        event.preventDefault();
        go({ path });
      }}
    >
      {text}
    </a>
  );
}
