// Which element shows which row of a long list.

/** Rows from `first` on, and the element of each. */
export interface Slots {
  first: number;
  elements: number[];
}

/**
 * Elements for the rows from `first` to before `last`. A row that was shown before keeps its element; the others get those
 * that are free now, so that scrolling changes elements and hardly ever makes new ones.
 */
export function slots(before: Slots, first: number, last: number): Slots {
  const kept = (row: number) => (row >= first && row < last ? before.elements[row - before.first] : undefined);
  const free = before.elements.filter((_, i) => kept(before.first + i) === undefined);
  const used = new Set(before.elements);
  const made = () => {
    let element = 0;
    while (used.has(element)) element++;
    used.add(element);
    return element;
  };
  const elements: number[] = [];
  for (let row = first; row < last; row++) elements.push(kept(row) ?? free.shift() ?? made());
  return { first, elements };
}
