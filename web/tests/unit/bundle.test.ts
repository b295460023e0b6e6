// The committed file, byte by byte.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";

const page = readFileSync(new URL("../../dist/page.html", import.meta.url), "utf8");
const between = (start: string, end: string) =>
  page.slice(page.indexOf(start) + start.length, page.indexOf(end, page.indexOf(start)));
const hash = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

test("it is under 400 kB compressed", () => {
  expect(gzipSync(page, { level: 9 }).length).toBeLessThan(400_000);
});

test("the policy allows our own script and style, and nothing else", () => {
  const policy = /Security-Policy" content="([^"]+)"/.exec(page)![1]!;
  expect(policy.split("; ").sort()).toEqual(
    [
      "default-src 'none'",
      `script-src ${hash(between("<script>", "</script>"))}`,
      `style-src ${hash(between("<style>", "</style>"))}`,
      "connect-src 'none'",
      "base-uri 'none'",
      "form-action 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
    ].sort(),
  );
});

test("places to fill in are there once, and empty", () => {
  for (const mark of [
    '<html lang="en">',
    "<title>gibbstream</title>",
    "connect-src 'none'",
    '<script type="application/octet-stream;base64" id="report-data"></script>',
    '<script type="application/octet-stream;base64" id="report-documents"></script>',
  ]) {
    expect(page.split(mark)).toHaveLength(2);
  }
});

test("no markup is ever made from text, and no host is named", () => {
  for (const sink of [".innerHTML=", ".outerHTML=", "insertAdjacentHTML", "document.write", "eval(", "new Function"]) {
    expect(page.includes(sink) ? sink : "").toBe("");
  }
  const hosts = new Set((page.match(/https?:\/\/[\w.-]+/g) ?? []).map((url) => url.toLowerCase()));
  // Names of XML namespaces, and links in Svelte's messages of errors: never fetched.
  expect([...hosts].filter((url) => !["http://www.w3.org", "https://svelte.dev"].includes(url))).toEqual([]);
});

test("the lock file names no registry", () => {
  expect(readFileSync(new URL("../../package-lock.json", import.meta.url), "utf8")).not.toMatch(
    /"resolved": "(?!https:\/\/registry\.npmjs\.org\/)/,
  );
});
