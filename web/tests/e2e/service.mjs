// The real `gibbstream serve` in a folder of its own, which can be killed and started again.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { documents } from "../../scripts/corpus.mjs";
import { jsonLines, program } from "./program.mjs";

/** Waits for the line that says where the service listens. */
function started(process) {
  return new Promise((resolve, reject) => {
    let said = "";
    const look = (text) => {
      said += text;
      const found = /http:\/\/127\.0\.0\.1:(\d+)/.exec(said);
      if (found) resolve(Number(found[1]));
    };
    process.stdout.on("data", look);
    process.stderr.on("data", look);
    process.on("exit", (code) => reject(new Error(`gibbstream serve ended with ${code}: ${said}`)));
  });
}

export async function realService(...flags) {
  const folder = mkdtempSync(join(tmpdir(), "gibbstream-live-"));
  let process;
  let port = 0;
  const source = documents(4000);
  const service = {
    url: "",
    async start() {
      const listen = ["--listen", `127.0.0.1:${port}`];
      process = spawn(program(), ["serve", "--data", join(folder, "data"), ...listen, "--no-progress", ...flags]);
      port = await started(process);
      service.url = `http://127.0.0.1:${port}/`;
    },
    async ended(signal) {
      const gone = new Promise((done) => process.once("exit", done));
      process.kill(signal);
      await gone;
    },
    async ask(path, options) {
      const response = await fetch(service.url + path, options);
      if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
      return response.json();
    },
    /** Posts so many further documents of the corpus. */
    post(count) {
      const some = Array.from({ length: count }, () => source.next().value);
      return service.ask("v1/documents", { method: "POST", body: jsonLines(some) });
    },
    progress: async () => (await service.ask("v1/model")).progress,
    async close() {
      await service.ended("SIGKILL");
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await service.start();
  return service;
}
