import { useEffect } from "preact/hooks";
import { m } from "../../messages/messages.ts";
import { useFocus } from "../use-focus.ts";

interface HeadingProps {
  text: string;
  /** Whether it names a screen, and the window too. The title of a window must name no secret. */
  isScreen?: boolean;
}

/** The heading of a screen, which takes the focus. */
export function Heading({ text, isScreen = true }: HeadingProps) {
  const heading = useFocus<HTMLHeadingElement>();
  useEffect(() => {
    if (!isScreen) return;
    document.title = `${text} · ${m.product}`;
    return () => void (document.title = m.product);
  }, [text, isScreen]);
  return (
    <h1 ref={heading} tabIndex={-1}>
      {text}
    </h1>
  );
}
