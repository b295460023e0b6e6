// Server-sent events read with fetch, because the browser's own reader cannot carry a token.
import { chunks } from "./unpack.ts";

export interface ServerEvent {
  name: string;
  data: string;
}

export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder();
  let rest = "";
  let name = "";
  let data: string[] = [];
  for await (const bytes of chunks(body)) {
    rest += decoder.decode(bytes, { stream: true });
    // A carriage return at the end may be half of a line ending.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop()!;
    for (const line of lines) {
      if (line === "") {
        if (data.length) yield { name: name || "message", data: data.join("\n") };
        [name, data] = ["", []];
        continue;
      }
      const [, field, value] = /^([^:]*):? ?(.*)$/.exec(line)!;
      if (field === "event") name = value!;
      else if (field === "data") data.push(value!);
    }
  }
}
