import { siemFormats } from "@coffer/contract";
import { useState } from "preact/hooks";
import { m } from "../../../messages/messages.ts";
import type { DestinationFormat, DestinationsView, DestinationView, TestedView } from "../../../protocol/audit.ts";
import { momentOf } from "../../dates.ts";
import { Choice } from "../../parts/choice.tsx";
import { Field } from "../../parts/field.tsx";
import { Page } from "../../parts/page.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Question } from "../../parts/question.tsx";
import { call } from "../../store.ts";
import { useAction } from "../../use-action.ts";
import { useLoad } from "../../use-load.ts";

type Credential = keyof typeof m.destinationCredentials;

/** What the form asks for. The command knows the rarer ones. */
const credentialsOf: Readonly<Record<DestinationFormat, readonly Credential[]>> = {
  hec: ["token", "index"],
  log_analytics: ["tenant_id", "client_id", "client_secret", "dcr_id", "stream"],
  logs_intake: ["api_key", "tags"],
  ecs: ["api_key"],
};
const secrets: readonly Credential[] = ["token", "client_secret", "api_key"];
const optional: readonly Credential[] = ["index", "tags"];
const addresses: Readonly<Record<DestinationFormat, string>> = {
  hec: "https://splunk.example.com:8088/",
  log_analytics: "https://example-ab12.westeurope-1.ingest.monitor.azure.com",
  logs_intake: "https://http-intake.logs.datadoghq.eu/",
  ecs: "https://elastic.example.com:9200/coffer-audit/_bulk",
};
const formats = siemFormats.map((format) => [format, m.destinationFormats[format]] as const);

/** Screen 18: where the audit records go. */
export function Destinations() {
  const { view, show, problem } = useLoad(() => call("destinations"));
  return (
    <Page title={m.destinationsTitle} problem={problem} wide>
      {view !== null && !view.maySee && <p>{m.destinationsNotYours}</p>}
      {view !== null && view.maySee && (
        <>
          <p class="hint">{m.destinationsWhy}</p>
          {view.destinations.length === 0 && <p>{m.noDestination}</p>}
          <ul class="members" aria-label={m.destinationsTitle}>
            {view.destinations.map((destination) => (
              <li key={destination.id}>
                <Destination destination={destination} mayManage={view.mayManage} onChange={show} />
              </li>
            ))}
          </ul>
          {view.mayManage && <NewDestination onMade={show} />}
        </>
      )}
    </Page>
  );
}

interface DestinationProps {
  destination: DestinationView;
  mayManage: boolean;
  onChange: (view: DestinationsView) => void;
}

function Destination({
  destination: { id, name, format, url, enabled, lastDelivery },
  mayManage,
  onChange,
}: DestinationProps) {
  const [tested, setTested] = useState<TestedView | null>(null);
  const [asking, setAsking] = useState(false);
  const { busy, problem, run } = useAction();
  return (
    <>
      <strong>{name}</strong>
      {!enabled && <span class="hint">{m.destinationOff}</span>}
      {mayManage && (
        <span class="buttons">
          <button
            disabled={busy}
            aria-label={m.destinationTestOf(name)}
            onClick={() => run(async () => setTested(await call("testDestination", id)))}
          >
            {m.destinationTest}
          </button>
          <button
            disabled={busy}
            aria-label={m.destinationSwitchOf(name, enabled)}
            onClick={() => run(async () => onChange(await call("switchDestination", { id, enabled: !enabled })))}
          >
            {m.destinationSwitch(enabled)}
          </button>
          <button disabled={busy} aria-label={m.destinationRemoveOf(name)} onClick={() => setAsking(true)}>
            {m.remove}
          </button>
        </span>
      )}
      <p class="hint whole">
        {m.destinationFormats[format]} · {url}
      </p>
      <Delivery delivery={lastDelivery} />
      {tested !== null && (
        <p role="status" class={tested.ok ? "good whole" : "problem"}>
          {tested.ok ? m.destinationTested : m.destinationTestFailed(tested.error ?? String(tested.status))}
        </p>
      )}
      <Problem text={problem} />
      {asking && (
        <Question
          title={m.destinationRemoveOf(name)}
          text={m.destinationRemoveText(name)}
          action={m.remove}
          busy={busy}
          onYes={() => run(async () => onChange(await call("removeDestination", id)))}
          onNo={() => setAsking(false)}
        />
      )}
    </>
  );
}

function Delivery({ delivery }: { delivery: DestinationView["lastDelivery"] }) {
  if (delivery === null) return <p class="hint whole">{m.destinationNever}</p>;
  const { at, error } = delivery;
  if (error !== null) return <p class="problem">{m.destinationBad(momentOf(at), error)}</p>;
  return <p class="hint whole">{m.destinationGood(momentOf(at))}</p>;
}

function NewDestination({ onMade }: { onMade: (view: DestinationsView) => void }) {
  const [format, setFormat] = useState<DestinationFormat>("hec");
  const [url, setUrl] = useState("");
  const [credentials, setCredentials] = useState<Partial<Record<Credential, string>>>({});
  const { busy, problem, run } = useAction();
  const names = credentialsOf[format];
  const submit = (event: Event): void => {
    event.preventDefault();
    const given = Object.fromEntries(names.map((name) => [name, (credentials[name] ?? "").trim()]));
    run(async () => {
      onMade(await call("createDestination", { format, url: url.trim(), credentials: given }));
      setUrl("");
      setCredentials({});
    });
  };
  return (
    <section aria-label={m.destinationNew}>
      <h2>{m.destinationNew}</h2>
      <form onSubmit={submit}>
        <Choice label={m.destinationFormat} value={format} options={formats} onChoose={setFormat} />
        <Field label={m.destinationUrl} value={url} onInput={setUrl} hint={addresses[format]} required mono />
        {names.map((name) => (
          <Field
            key={name}
            label={m.destinationCredentials[name]}
            type={secrets.includes(name) ? "password" : "text"}
            value={credentials[name] ?? ""}
            onInput={(value) => setCredentials({ ...credentials, [name]: value })}
            required={!optional.includes(name)}
            mono
          />
        ))}
        <Problem text={problem} />
        <p class="buttons">
          <button class="primary" disabled={busy}>
            {m.destinationAdd}
          </button>
          <code class="command">{m.destinationCommand}</code>
        </p>
      </form>
    </section>
  );
}
