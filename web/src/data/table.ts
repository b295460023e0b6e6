// The numbers behind a picture.

export type Cell = string | number | null;

export interface Table {
  columns: string[];
  rows: Cell[][];
  /** Topics of the rows, where rows are topics. */
  topics?: number[];
}

/** RFC 4180. A cell that a spreadsheet would run as a formula gets an apostrophe in front. */
export function toCsv({ columns, rows }: Table): string {
  const write = (cell: Cell) => {
    if (cell === null) return "";
    if (typeof cell === "number") return String(cell);
    const safe = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
    return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return [columns, ...rows].map((row) => row.map(write).join(",") + "\r\n").join("");
}
