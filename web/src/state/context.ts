import { getContext, setContext } from "svelte";
import type { Explorer } from "./explorer.svelte.ts";

const key = Symbol("explorer");

export const provideExplorer = (explorer: Explorer) => setContext(key, explorer);
export const useExplorer = () => getContext<Explorer>(key);
