import { defineConfig } from "vitest/config";

// One browser, one file after the other: the tests measure nothing, but a loaded machine makes them slow.
export default defineConfig({
  test: {
    include: ["tests/e2e/**/*.test.mjs"],
    environment: "node",
    fileParallelism: false,
    testTimeout: 180_000,
    hookTimeout: 600_000,
  },
});
