// Light or dark: as the system has it, or as the user has chosen.
import { keep, load } from "../state/storage.ts";

export const THEMES = ["auto", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const KEY = "gibbstream theme";
const systemIsDark = matchMedia("(prefers-color-scheme: dark)");

export const keptTheme = (): Theme => THEMES.find((each) => each === load(KEY)) ?? "auto";

function apply(theme: Theme): void {
  const system = systemIsDark.matches ? "dark" : "light";
  document.documentElement.dataset.theme = theme === "auto" ? system : theme;
}

export function useTheme(theme: Theme): void {
  keep(KEY, theme);
  apply(theme);
}

/** From the first moment on, and when the system changes. */
export function followTheme(): void {
  apply(keptTheme());
  systemIsDark.addEventListener("change", () => apply(keptTheme()));
}
