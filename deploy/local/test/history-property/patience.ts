import { setTimeout as pause } from "node:timers/promises";

const mostMilliseconds = 300_000;
const pauseMilliseconds = 200;

/** Asks a busy service until it answers something else than 503, at most five minutes. */
export async function answerOf(ask: () => Promise<Response>): Promise<Response> {
  const end = performance.now() + mostMilliseconds;
  for (;;) {
    const answer = await ask();
    if (answer.status !== 503 || performance.now() > end) return answer;
    await answer.body?.cancel();
    await pause(pauseMilliseconds);
  }
}

/** The same of work that throws what the service answered. */
export async function patiently<T>(work: () => Promise<T>): Promise<T> {
  const end = performance.now() + mostMilliseconds;
  for (;;)
    try {
      return await work();
    } catch (error) {
      const isBusy = error instanceof Error && error.message.includes("answered 503");
      if (!isBusy || performance.now() > end) throw error;
      await pause(pauseMilliseconds);
    }
}
