// Numbers for people, the same everywhere.

const grouped = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

export const count = (value: number) => grouped.format(value);

/** Per cent with about two digits that count. */
export function percent(value: number): string {
  const p = value * 100;
  const digits = p !== 0 && Math.abs(p) < 0.995 ? 2 : Math.abs(p) < 9.95 ? 1 : 0;
  return p !== 0 && Math.abs(p) < 0.005 ? "<0.01 %" : `${p.toFixed(digits)} %`;
}

/** Per cent for the ticks of an axis: no digits that say nothing. */
export const percentTick = (value: number) => `${Number((value * 100).toFixed(3))} %`;

export function decimal(value: number | null | undefined, digits = 2): string {
  return value === null || value === undefined || !Number.isFinite(value)
    ? "–"
    : value.toFixed(digits).replace("-", "−");
}

/** Four digits that count. */
export const short = (value: number) =>
  Math.abs(value) >= 1000 ? count(value) : String(Number(value.toPrecision(4))).replace("-", "−");
