import { setTimeout as pause } from "node:timers/promises";

const mostMilliseconds = 300_000;
const pauseMilliseconds = 200;

/** Repeats a request while the response is 503, for at most five minutes. */
export async function answerOf(request: () => Promise<Response>): Promise<Response> {
  const end = performance.now() + mostMilliseconds;
  for (;;) {
    const answer = await request();
    if (answer.status !== 503 || performance.now() > end) return answer;
    await answer.body?.cancel();
    await pause(pauseMilliseconds);
  }
}

/** As `answerOf` for work that throws the service's error. */
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
