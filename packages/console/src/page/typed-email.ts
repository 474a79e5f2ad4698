import { signal } from "@preact/signals";

/** The e-mail as it is typed before there is a session. Sign in, registration and recovery begin with it. */
export const typedEmail = signal("");
