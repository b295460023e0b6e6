// The data inside this file.
import { inferLocally } from "./local-inference.ts";
import type { DocumentText, Report } from "./report.ts";
import { type Source, SourceError } from "./source.ts";
import { breathe, unpackJson } from "./unpack.ts";

export const SCHEMA = "gibbstream/report/1";

/** Elements after our script are there once the whole file has been read. */
const wholePage = () =>
  new Promise<void>((resolve) => {
    if (document.readyState !== "loading") resolve();
    else document.addEventListener("DOMContentLoaded", () => resolve(), { once: true });
  });

const block = (id: string) => document.getElementById(id)?.textContent?.trim() ?? "";

export function checked(report: Report): Report {
  if (report?.schema !== SCHEMA) {
    const found = JSON.stringify(report?.schema);
    throw new SourceError(`The data of this page are ${found}; this page reads ${SCHEMA}.`, "damaged");
  }
  return report;
}

async function embeddedReport(): Promise<Report> {
  const packed = block("report-data");
  if (!packed) {
    const advice = "Make one with: gibbstream report MODEL [INPUT...] --out page.html";
    throw new SourceError(`This page carries no model. ${advice}`, "missing");
  }
  try {
    return checked(await unpackJson<Report>(packed));
  } catch (error) {
    if (error instanceof SourceError) throw error;
    throw new SourceError(
      `The data of this page cannot be unpacked (${String(error)}). Make the page again.`,
      "damaged",
    );
  }
}

/** A line is a block of documents, packed by itself. */
async function* embeddedTexts(report: Report): AsyncGenerator<DocumentText[]> {
  if (report.documents?.texts) yield report.documents.texts;
  await wholePage();
  for (const line of block("report-documents").split("\n")) {
    if (!line) continue;
    yield await unpackJson<DocumentText[]>(line);
    await breathe();
  }
}

export const embeddedSource: Source = {
  report: embeddedReport,
  texts: embeddedTexts,
  infer: async (text, report) => inferLocally(text, report),
  live: null,
};
