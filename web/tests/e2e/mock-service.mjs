// A service that says what gibbstream serve says, with a report of ours, and can go away.
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { pagePath } from "../../scripts/page-file.mjs";

export async function mockService(report, { token = "" } = {}) {
  const page = readFileSync(pagePath, "utf8")
    .replace('<html lang="en">', '<html lang="en" data-source="live">')
    .replace("connect-src 'none'", "connect-src 'self'");
  const state = { report, listeners: new Set(), controls: [], inferred: [], reports: 0, refuse: false };

  const server = createServer(async (request, response) => {
    const json = (status, value) =>
      response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(value));
    let body = "";
    for await (const part of request) body += part;
    if (request.url === "/") return response.writeHead(200, { "Content-Type": "text/html; charset=utf-8" }).end(page);
    if (request.url === "/favicon.ico") return response.writeHead(204).end();
    if (state.refuse) return request.socket.destroy();
    if (token && request.headers.authorization !== `Bearer ${token}`)
      return json(401, { title: "Unauthorized", detail: "a token is needed" });
    if (request.url === "/v1/report") {
      if (!state.report) return json(409, { title: "Conflict", detail: "nothing has been learnt yet; send documents" });
      state.reports++;
      return json(200, state.report);
    }
    if (request.url === "/v1/events") {
      response.writeHead(200, { "Content-Type": "text/event-stream" });
      state.listeners.add(response);
      response.on("close", () => state.listeners.delete(response));
      return response.write(": hello\n\n");
    }
    if (request.url === "/v1/infer") {
      state.inferred.push(JSON.parse(body));
      const theta = state.report.topics.map((_, k) => (k === 2 ? 0.91 : 0.09 / (state.report.topics.length - 1)));
      return json(200, {
        schema: "gibbstream/infer/1",
        model_hash: "x",
        documents: [{ id: null, index: 0, tokens: 5, out_of_vocabulary_tokens: 1, theta }],
      });
    }
    if (request.url === "/v1/control") {
      const { action } = JSON.parse(body);
      state.controls.push(action);
      if (action === "checkpoint")
        return json(503, { title: "Service Unavailable", detail: "the checkpoint could not be written" });
      return json(200, { progress: {} });
    }
    return json(404, { detail: "no such route" });
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));

  return {
    state,
    url: `http://127.0.0.1:${server.address().port}/`,
    tell(name, data) {
      for (const listener of state.listeners) listener.write(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
    },
    /** Ends all connections and answers none until `back`. */
    goAway() {
      state.refuse = true;
      for (const listener of state.listeners) listener.destroy();
    },
    back() {
      state.refuse = false;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
