// What is chosen, as the part of the address after `#`: a link opens what was seen.

export const VIEWS = [
  "topics",
  "topic",
  "documents",
  "map",
  "words",
  "time",
  "groups",
  "compare",
  "run",
  "try",
] as const;
export type View = (typeof VIEWS)[number];

export interface Address {
  view: View;
  /** Chosen topics; the first is the one that single-topic views show. */
  topics: number[];
  /** Relevance: 1 ranks words by their weight in the topic, 0 by how special they are to it; null as the report says. */
  lambda: number | null;
  /** Column of the topic list, with "-" in front for descending order. */
  sort: string;
  /** Filter of the topic list. */
  find: string;
  showHidden: boolean;
  /** Filters of the document list. */
  text: string;
  group: string;
  from: string;
  to: string;
  document: number | null;
  word: string;
  /** Two periods to compare words between. */
  between: [number, number] | null;
  /** Height at which the dendrogram is cut. */
  cut: number | null;
  /** The picture whose table is shown. */
  table: string;
}

export const START: Address = {
  view: "topics",
  topics: [],
  lambda: null,
  sort: "-share",
  find: "",
  showHidden: false,
  text: "",
  group: "",
  from: "",
  to: "",
  document: null,
  word: "",
  between: null,
  cut: null,
  table: "",
};

/** So many topics can be told apart by colour and letter. */
export const MOST_CHOSEN = 8;

const number = (text: string | null, low: number, high: number): number | null => {
  const value = text === null || text.trim() === "" ? NaN : Number(text);
  return value >= low && value <= high ? value : null;
};

const integers = (text: string | null): number[] => {
  const values = (text ?? "").split(",").filter((part) => /^\d{1,9}$/.test(part));
  return [...new Set(values.map(Number))];
};

/** Reads an address; whatever makes no sense is left at its start value. */
export function parse(hash: string): Address {
  const [path = "", query = ""] = hash.replace(/^#?\/?/, "").split("?", 2);
  const fields = new URLSearchParams(query);
  const between = integers(fields.get("between"));
  return {
    view: VIEWS.find((view) => view === path) ?? START.view,
    topics: integers(fields.get("topics")).slice(0, MOST_CHOSEN),
    lambda: number(fields.get("lambda"), 0, 1),
    sort: /^-?[a-z]+$/.test(fields.get("sort") ?? "") ? fields.get("sort")! : START.sort,
    find: fields.get("find") ?? "",
    showHidden: fields.get("hidden") === "shown",
    text: fields.get("text") ?? "",
    group: fields.get("group") ?? "",
    from: fields.get("from") ?? "",
    to: fields.get("to") ?? "",
    document: integers(fields.get("document"))[0] ?? null,
    word: fields.get("word") ?? "",
    between: between.length === 2 ? [between[0]!, between[1]!] : null,
    cut: number(fields.get("cut"), 0, 1e6),
    table: /^[a-z-]+$/.test(fields.get("table") ?? "") ? fields.get("table")! : "",
  };
}

/** The shortest address that `parse` reads back. */
export function format(address: Address): string {
  const fields = new URLSearchParams();
  const put = (name: string, value: string, start: string) => {
    if (value !== start) fields.set(name, value);
  };
  put("topics", address.topics.join(","), "");
  put("lambda", address.lambda === null ? "" : String(address.lambda), "");
  put("sort", address.sort, START.sort);
  put("find", address.find, "");
  put("hidden", address.showHidden ? "shown" : "", "");
  put("text", address.text, "");
  put("group", address.group, "");
  put("from", address.from, "");
  put("to", address.to, "");
  put("document", address.document === null ? "" : String(address.document), "");
  put("word", address.word, "");
  put("between", address.between?.join(",") ?? "", "");
  put("cut", address.cut === null ? "" : String(address.cut), "");
  put("table", address.table, "");
  const query = fields.toString().replaceAll("%2C", ",");
  return `#/${address.view}${query ? `?${query}` : ""}`;
}
