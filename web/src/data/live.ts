// A running service behind the same interface: the report by HTTP, news by server-sent events.
import { checked } from "./embedded.ts";
import { readEvents } from "./server-events.ts";
import type { DocumentText, Report } from "./report.ts";
import {
  type Connection,
  type ControlAction,
  type Inferred,
  type LiveEvents,
  type Source,
  SourceError,
} from "./source.ts";
import { tokenize } from "./tokens.ts";

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
    if (!response.ok) throw new SourceError(await problemOf(response), "unreachable");
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
  theta: number[] | [number, number][] | { topic: number; share: number; deviation?: number }[];
  deviation?: number[];
}

/** The mixture in the shapes that `infer` writes: all shares, or pairs of topic and share. */
export function mixtureOf(line: InferLine): [number, number, number][] {
  const rows = line.theta.map((entry, k): [number, number, number] => {
    if (typeof entry === "number") return [k, entry, line.deviation?.[k] ?? 0];
    if (Array.isArray(entry)) return [entry[0], entry[1], line.deviation?.[k] ?? 0];
    return [entry.topic, entry.share, entry.deviation ?? 0];
  });
  return rows.sort((a, b) => b[1] - a[1]);
}

async function infer(client: Client, text: string, report: Report): Promise<Inferred> {
  const response = await client.post("/v1/infer", { documents: [{ text }] });
  const answer = (await response.json()) as { documents?: InferLine[]; results?: InferLine[] };
  const line = (answer.documents ?? answer.results)?.[0];
  if (!line) throw new SourceError("The service gave no mixture.", "damaged");
  const known = new Set(report.words.text);
  const tokens = report.try_table ? tokenize(text, report.try_table) : [];
  return {
    theta: mixtureOf(line),
    tokens: line.tokens + line.out_of_vocabulary_tokens,
    unknown: [...new Set(tokens.filter((token) => !known.has(token.word)).map((token) => token.word))],
    spans: null,
    how: "Computed by the service with the whole model of this moment.",
  };
}

const wait = (milliseconds: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
  });

/** Listens until `signal` ends it; a lost connection is made again, and the report asked for again. */
async function listen(
  client: Client,
  events: LiveEvents,
  signal: AbortSignal,
  wake: () => Promise<void>,
): Promise<void> {
  let attempt = 0;
  let lost = false;
  const report = async () =>
    events.snapshot(checked((await (await client.fetch("/v1/report", { signal })).json()) as Report));
  while (!signal.aborted) {
    const say = (connection: Connection) => !signal.aborted && events.connection(connection);
    try {
      const response = await client.fetch("/v1/events", { headers: { Accept: "text/event-stream" }, signal });
      say({ state: "live" });
      attempt = 0;
      // What happened in between is in the report.
      if (lost) await report();
      lost = false;
      for await (const { name, data } of readEvents(response.body!)) {
        const value = JSON.parse(data) as never;
        if (name === "progress") events.progress(value);
        else if (name === "evaluation") events.evaluation(value);
        else if (name === "alarm")
          events.alarm(
            String(
              (value as { problem?: string; message?: string }).problem ??
                (value as { message?: string }).message ??
                data,
            ),
          );
        else if (name === "snapshot") await report();
      }
      throw new SourceError("The service closed the connection.", "unreachable");
    } catch (error) {
      if (signal.aborted) return;
      lost = true;
      if (error instanceof SourceError && error.kind === "unauthorised") {
        say({ state: "unauthorised" });
        await wake();
        continue;
      }
      const pause = PATIENCE[Math.min(attempt++, PATIENCE.length - 1)]!;
      say({
        state: "lost",
        reason: error instanceof Error ? error.message : String(error),
        retryAt: Date.now() + pause,
      });
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
