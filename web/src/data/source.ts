// The one interface between the views and where the data come from: this file, or a service.
import type { DocumentText, Report } from "./report.ts";

/** A mixture for a text that the user has typed. */
export interface Inferred {
  /** [topic, mean share, standard deviation], largest first. */
  theta: [number, number, number][];
  tokens: number;
  unknown: string[];
  /** [start, end, topic] of every known word; null where the source cannot say. */
  spans: [number, number, number][] | null;
  /** How it was computed, in one sentence. */
  how: string;
  /** What the page may cut into other words than the program; empty if nothing. */
  differs: string;
}

/** What a service tells about its run, all optional but `documents`. */
export interface Progress {
  documents: number;
  tokens?: number;
  updates?: number;
  waiting?: number;
  documents_per_second?: number | null;
  alpha_sum?: number | null;
  step?: number | null;
  topics_used?: number | null;
  /** Distance between the topics of the last minibatches and those of the model. */
  drift?: number | null;
  paused?: boolean;
}

export interface Birth {
  topic: number;
  updates: number;
  words: string[];
}

export type Connection =
  | { state: "connecting" }
  | { state: "live" }
  | { state: "lost"; reason: string; retryAt: number }
  | { state: "unauthorised" };

export interface LiveEvents {
  connection(connection: Connection): void;
  progress(progress: Progress): void;
  alarm(message: string): void;
  /** A topic was created. */
  birth(birth: Birth): void;
  /** A new snapshot of the model: the report should be asked for again. */
  snapshot(report: Report): void;
}

export type ControlAction = "pause" | "resume" | "checkpoint";

/** What only a service can do. */
export interface Live {
  listen(events: LiveEvents): () => void;
  control(action: ControlAction): Promise<void>;
  useToken(token: string): void;
}

export interface Source {
  report(): Promise<Report>;
  /** Texts of the documents in order, group by group. */
  texts(report: Report): AsyncIterable<DocumentText[]>;
  infer(text: string, report: Report): Promise<Inferred>;
  live: Live | null;
}

/** A fault that the page shows in words. */
export class SourceError extends Error {
  constructor(
    message: string,
    readonly kind: "missing" | "damaged" | "unauthorised" | "unreachable" | "waiting",
  ) {
    super(message);
  }
}
