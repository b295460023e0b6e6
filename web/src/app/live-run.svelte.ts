// What a running service tells, while the page is open.
import type { Birth, Connection, Progress } from "../data/source.ts";
import type { Explorer } from "../state/explorer.svelte.ts";

/** Moments kept for the pictures. */
const KEPT = 1000;

export class LiveRun {
  connection: Connection = $state.raw({ state: "connecting" });
  progress: Progress[] = $state.raw([]);
  alarm = $state("");
  /** Topics that were created while the page was open, newest first. */
  births: Birth[] = $state.raw([]);
  now = $derived(this.progress.at(-1));

  listen(explorer: Explorer): () => void {
    return explorer.source.live!.listen({
      connection: (connection) => {
        this.connection = connection;
        explorer.announcement =
          connection.state === "lost" ? "connection lost" : connection.state === "live" ? "connected" : "";
      },
      progress: (progress) => {
        // A newer value for the same moment replaces the older.
        const before = this.now?.documents === progress.documents ? this.progress.slice(0, -1) : this.progress;
        this.progress = [...before, progress].slice(-KEPT);
      },
      alarm: (message) => {
        this.alarm = message;
        explorer.announcement = message;
      },
      birth: (birth) => {
        this.births = [birth, ...this.births].slice(0, 50);
      },
      snapshot: (report) => {
        explorer.replaceReport(report);
        void explorer.readTexts();
      },
    });
  }
}
