// A running service behind the same interface: the report by HTTP, news by server-sent events.
import { checked } from "./embedded.ts";
import { inferLocally } from "./local-inference.ts";
import { readEvents } from "./server-events.ts";
import type { DocumentText, Report } from "./report.ts";
import {
  type Birth,
  type Connection,
  type ControlAction,
  type Inferred,
  type LiveEvents,
  type Progress,
  type Source,
  SourceError,
} from "./source.ts";

const TOKEN = "gibbstream token";
/** Waiting times between attempts, in milliseconds; the last is repeated. */
const PATIENCE = [500, 1000, 2000, 5000, 10_000];

class Client {
  token = sessionStorage.getItem(TOKEN) ?? "";

  async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    if (this.token) headers.set("Authorization", `Bearer ${this.token}`);
    let response: Response;
    try {
      response = await fetch(path, { ...init, headers });
    } catch {
      throw new SourceError("The service does not answer.", "unreachable");
    }
    if (response.status === 401) throw new SourceError("The service asks for a token.", "unauthorised");
    if (!response.ok)
      throw new SourceError(await problemOf(response), response.status === 409 ? "waiting" : "unreachable");
    return response;
  }

  post(path: string, body: unknown): Promise<Response> {
    return this.fetch(path, {
      method: "POST",
      body: JSON.stringify(body),
      headers: { "Content-Type": "application/json" },
    });
  }
}

/** What the service says is wrong, or the bare status. */
async function problemOf(response: Response): Promise<string> {
  const text = await response.text().catch(() => "");
  try {
    const { error, detail, message } = JSON.parse(text) as Record<string, unknown>;
    const said = [error, detail, message].find((each) => typeof each === "string");
    if (said) return String(said);
  } catch {
    // Not JSON: the status says enough.
  }
  return `The service answered ${response.status} ${response.statusText}.`;
}

interface InferLine {
  tokens: number;
  out_of_vocabulary_tokens: number;
  theta: number[];
}

/** Shares are the service's. What it does not tell, the page works out: topics of words, spread, unknown words. */
export function combined(line: InferLine, local: Inferred | null): Inferred {
  const spread = new Map((local?.theta ?? []).map(([topic, , deviation]) => [topic, deviation]));
  const theta = line.theta.map((share, k): [number, number, number] => [k, share, spread.get(k) ?? 0]);
  return {
    theta: theta.sort((a, b) => b[1] - a[1]),
    tokens: line.tokens + line.out_of_vocabulary_tokens,
    unknown: local?.unknown ?? [],
    spans: local?.spans ?? null,
    differs: local?.differs ?? "",
    how: local
      ? "Shares by the service with the whole model of this moment; topics of words and whiskers by this page, with a compact copy."
      : "Computed by the service with the whole model of this moment.",
  };
}

async function infer(client: Client, text: string, report: Report): Promise<Inferred> {
  const response = await client.post("/v1/infer", { documents: [{ text }] });
  const { documents } = (await response.json()) as { documents?: InferLine[] };
  if (!documents?.[0]) throw new SourceError("The service gave no mixture.", "damaged");
  return combined(documents[0], report.try_table ? inferLocally(text, report) : null);
}

const wait = (milliseconds: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
  });

/** At most one report in so many milliseconds. */
const REPORT_EVERY = 2000;

/** Asks for the report, at once or as soon as the last answer is old enough. */
function refresher(client: Client, events: LiveEvents, signal: AbortSignal): () => void {
  let last = -Infinity;
  let planned = false;
  const ask = async () => {
    planned = false;
    last = performance.now();
    try {
      const response = await client.fetch("/v1/report", { signal });
      if (!signal.aborted) events.snapshot(checked((await response.json()) as Report));
    } catch {
      // The next event asks again; a lost connection is told by the events themselves.
    }
  };
  return () => {
    if (planned) return;
    planned = true;
    void wait(Math.max(0, last + REPORT_EVERY - performance.now()), signal).then(() =>
      signal.aborted ? undefined : ask(),
    );
  };
}

/** Listens until `signal` ends it; a lost connection is made again, and the report asked for again. */
async function listen(client: Client, events: LiveEvents, signal: AbortSignal, wake: () => Promise<void>) {
  let attempt = 0;
  const refresh = refresher(client, events, signal);
  const say = (connection: Connection) => !signal.aborted && events.connection(connection);
  while (!signal.aborted) {
    try {
      const response = await client.fetch("/v1/events", { headers: { Accept: "text/event-stream" }, signal });
      say({ state: "live" });
      // What happened in between is in the report.
      if (attempt) refresh();
      attempt = 0;
      for await (const { name, data } of readEvents(response.body!)) {
        if (name === "progress") events.progress(JSON.parse(data) as Progress);
        else if (name === "birth") events.birth(JSON.parse(data) as Birth);
        else if (name === "alarm") events.alarm((JSON.parse(data) as { problem?: string }).problem ?? data);
        else if (name === "snapshot" || name === "evaluation") refresh();
      }
      throw new SourceError("The service closed the connection.", "unreachable");
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof SourceError && error.kind === "unauthorised") {
        say({ state: "unauthorised" });
        await wake();
        continue;
      }
      const pause = PATIENCE[Math.min(attempt++, PATIENCE.length - 1)]!;
      const reason = error instanceof SourceError ? error.message : "The service does not answer.";
      say({ state: "lost", reason, retryAt: Date.now() + pause });
      await wait(pause, signal);
    }
  }
}

export function liveSource(): Source {
  const client = new Client();
  let wakeUp: (() => void) | null = null;
  return {
    report: async () => checked((await (await client.fetch("/v1/report")).json()) as Report),
    async *texts(report): AsyncGenerator<DocumentText[]> {
      if (report.documents?.texts) yield report.documents.texts;
    },
    infer: (text, report) => infer(client, text, report),
    live: {
      listen(events) {
        const ending = new AbortController();
        const wake = () => new Promise<void>((resolve) => (wakeUp = resolve));
        void listen(client, events, ending.signal, wake);
        return () => ending.abort();
      },
      control: async (action: ControlAction) => void (await client.post("/v1/control", { action })),
      useToken(token) {
        client.token = token;
        sessionStorage.setItem(TOKEN, token);
        wakeUp?.();
      },
    },
  };
}
