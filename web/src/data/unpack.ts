// Base64 of gzip, unpacked piece by piece so that no frame is long.

/** Characters decoded at once: a multiple of four, so that pieces are whole. */
const PIECE = 1 << 18;

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const binary = atob(base64);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** The text inside `base64` (of gzipped UTF-8), as it unpacks. */
export function unpack(base64: string): ReadableStream<string> {
  let place = 0;
  const packed = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      if (place >= base64.length) return controller.close();
      controller.enqueue(bytesOf(base64.slice(place, place + PIECE)));
      place += PIECE;
    },
  });
  return packed
    .pipeThrough(new DecompressionStream("gzip"))
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array<ArrayBuffer>>);
}

export async function unpackJson<T>(base64: string): Promise<T> {
  const parts: string[] = [];
  for await (const part of chunks(unpack(base64))) parts.push(part);
  return JSON.parse(parts.join("")) as T;
}

/** The pieces of a stream. (Not every browser can iterate over streams.) */
export async function* chunks<T>(stream: ReadableStream<T>): AsyncGenerator<T> {
  const reader = stream.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}

/** Lets the browser paint and answer before going on. */
export const breathe = () => new Promise<void>((resolve) => setTimeout(resolve));
