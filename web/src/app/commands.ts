// The command and the Python line that give the numbers of a view.
import type { Report } from "../data/report.ts";

const plain = /^[\w./:@%+=,-]+$/;

/** A word of a POSIX shell. */
export const shell = (word: string) => (plain.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);
/** A Python string. */
export const python = (word: string) => JSON.stringify(word);

export interface Lines {
  command: string;
  python: string;
}

export function linesFor(report: Report) {
  const model = shell(report.commands.model || "MODEL");
  const inputs = (report.commands.inputs?.length ? report.commands.inputs : ["INPUT"]).map(shell).join(" ");
  const load = `gibbstream.load(${python(report.commands.model || "MODEL")})`;
  const json = (field: string) =>
    `${report.commands.program.replace(/ --out \S+/, "")} --format json   # field "${field}"`;
  return {
    topics: { command: `gibbstream topics ${model} --json`, python: `${load}.topics_frame()` },
    words: (lambda: number): Lines => ({
      command: `gibbstream topics ${model} --words 30 --lambda ${lambda} --json`,
      python: `${load}.top_words(30, relevance=${lambda})`,
    }),
    documents: {
      command: `gibbstream infer ${model} ${inputs} --uncertainty`,
      python: `${load}.documents_frame(texts)`,
    },
    map: { command: json("map"), python: report.commands.python },
    distances: { command: json("distances"), python: report.commands.python },
    hierarchy: { command: json("hierarchy"), python: report.commands.python },
    word: { command: json("words"), python: report.commands.python },
    timeline: { command: json("timeline"), python: report.commands.python },
    groups: { command: json("groups"), python: report.commands.python },
    compare: {
      command: `gibbstream compare ${model} ${shell(report.comparison?.name ?? "OTHER")} --json`,
      python: report.commands.python,
    },
    run: { command: `gibbstream inspect ${model} --json`, python: `${load}.history_` },
    infer: {
      command: `echo TEXT | gibbstream infer ${model} - --uncertainty --tokens`,
      python: `${load}.transform([text])`,
    },
  };
}

/** How to make the page again with something that it lacks; nothing where the service or a notebook made it. */
export function withMore({ commands, documents }: Report, flag: string, argument: string): Lines | null {
  if (!documents || !commands.program || !commands.python.endsWith(")")) return null;
  return { command: `${commands.program} ${flag}`, python: `${commands.python.slice(0, -1)}, ${argument})` };
}
