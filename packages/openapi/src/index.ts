export { DescriptionError, exchangeProblems } from "./check-exchange.ts";
export { checkedFetch } from "./checked-fetch.ts";
export { closed } from "./closed.ts";
export { type DescribedRoute, routeProblems } from "./compare-routes.ts";
export { problemsOf } from "./conforms.ts";
export {
  type AnswerForm,
  type Description,
  descriptionFile,
  loadDescription,
  type Operation,
  type Parameter,
  type RequestBody,
  type Schema,
} from "./description.ts";
export type { Mapping, Node } from "./document.ts";
export { type DescribedMessage, loadMessages, messageProblems, messagesFile, type Speaker } from "./messages.ts";
export { type Exchange, splitTarget } from "./exchange.ts";
export { requireAsDescribed, watchedEnvironment } from "./watched.ts";
