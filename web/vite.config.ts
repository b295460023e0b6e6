import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";
import { singleFile } from "./scripts/single-file.mjs";

export default defineConfig({
  plugins: [svelte(), singleFile("index.html", "dist/page.html")],
  build: {
    target: "es2022",
    modulePreload: false,
    cssCodeSplit: false,
    minify: true,
    rollupOptions: { input: "src/main.ts", output: { format: "iife" } },
  },
});
