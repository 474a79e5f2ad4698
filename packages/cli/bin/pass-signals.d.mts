import type { ChildProcess } from "node:child_process";

export function passSignals(child: () => ChildProcess): () => void;
export function exitCodeOf(code: number | null, signal: NodeJS.Signals | null): number;
