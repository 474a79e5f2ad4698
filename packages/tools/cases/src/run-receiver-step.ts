import { setTimeout as sleep } from "node:timers/promises";
import type { ReceiverStep } from "./case-file.ts";
import { CaseFailure } from "./failure.ts";
import { holds, match } from "./match.ts";
import type { ReceivedRequest, Receiver, WantedAnswer } from "./receiver.ts";
import type { Run } from "./run.ts";
import { evaluate } from "./template.ts";

/** Checks what the installation sends to the receiver. Throws a CaseFailure if it differs. */
export async function runReceiverStep({ receiver, scope }: Run, step: ReceiverStep): Promise<void> {
  if (receiver === undefined) throw new TypeError("a case that speaks of the receiver says that it needs one");
  if ("answers" in step) {
    const { answers, times, ...answer } = step;
    // Evaluation preserves the shape.
    receiver.answer(await pathOf(answers, scope), times, (await evaluate(answer, scope)) as WantedAnswer);
  } else if ("untouched" in step) {
    const path = await pathOf(step.untouched, scope);
    const unwanted = await evaluate(step.request, scope);
    const request = below(receiver, path).find((each) => holds(each, unwanted));
    if (request !== undefined) throw new CaseFailure(`${path} was sent ${JSON.stringify(request)}, expected nothing`);
  } else {
    const path = await pathOf(step.received, scope);
    await waitFor(receiver, path, { expected: await evaluate(step.request, scope), seconds: step.within });
  }
}

async function pathOf(text: string, scope: Run["scope"]): Promise<string> {
  return String(await evaluate(text, scope));
}

const below = ({ requests }: Receiver, path: string): ReceivedRequest[] =>
  requests.filter((request) => request.path.startsWith(path));

/** Waits until a request below the path matches. */
async function waitFor(
  receiver: Receiver,
  path: string,
  { expected, seconds }: { expected: unknown; seconds: number },
): Promise<void> {
  const deadline = performance.now() + seconds * 1000;
  for (;;) {
    let failure = new CaseFailure(`nothing was sent to ${path} within ${seconds} s`);
    for (const request of below(receiver, path))
      try {
        match(request, expected, `what was sent to ${path}`);
        return;
      } catch (error) {
        if (!(error instanceof CaseFailure)) throw error;
        failure = error;
      }
    if (performance.now() > deadline) throw failure;
    await sleep(50);
  }
}
