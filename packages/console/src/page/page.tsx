import "./harden.ts";
import { render } from "preact";
import { language } from "../messages/messages.ts";
import { App } from "./app.tsx";
import { showUnseen } from "./visible-text.ts";

showUnseen();
document.documentElement.lang = language();
const root = document.getElementById("console");
if (root !== null) render(<App />, root);
