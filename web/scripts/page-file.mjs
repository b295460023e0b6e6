// Fills the built page with data, byte for byte as the program does it.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

export const pagePath = fileURLToPath(new URL("../dist/page.html", import.meta.url));

const emptyBlock = (id) => `<script type="application/octet-stream;base64" id="${id}"></script>`;

const pack = (value) => gzipSync(JSON.stringify(value)).toString("base64");

function fill(page, id, packed) {
  const empty = emptyBlock(id);
  if (page.split(empty).length !== 2) throw new Error(`${empty} must stand in the page once`);
  return page.replace(empty, () => empty.replace("></script>", `>${packed}</script>`));
}

/** Writes `report` (with its texts) as a page. */
export function writePage(report, path) {
  let page = readFileSync(pagePath, "utf8");
  const { documents } = report;
  const first = documents ? { ...report, documents: { ...documents, texts: null } } : report;
  page = fill(page, "report-data", pack(first));
  if (documents) {
    const size = documents.texts_per_block;
    const blocks = [];
    for (let i = 0; i < documents.texts.length; i += size) blocks.push(pack(documents.texts.slice(i, i + size)));
    page = fill(page, "report-documents", blocks.join("\n"));
  }
  writeFileSync(path, page);
}
