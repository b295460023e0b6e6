// Which colour a topic has. One chosen topic: the accent. Several: hues, each with a letter. The rest is grey.

export const LETTERS = ["A", "B", "C", "D", "E", "F", "G", "H"] as const;

/** Colour and letter of topics in a picture. */
export interface Palette {
  of(topic: number): string;
  letter(topic: number): string;
  has(topic: number): boolean;
}

export function palette(topics: readonly number[]): Palette {
  const place = new Map(topics.slice(0, LETTERS.length).map((topic, i) => [topic, i]));
  const one = place.size === 1;
  return {
    of: (topic) => {
      const i = place.get(topic);
      return i === undefined ? "var(--bar)" : one ? "var(--accent)" : `var(--hue-${i + 1})`;
    },
    letter: (topic) => (one ? "" : (LETTERS[place.get(topic) ?? -1] ?? "")),
    has: (topic) => place.has(topic),
  };
}
