import { expect, test } from "vitest";
import { withMore } from "../../src/app/commands.ts";
import { sentence } from "../../src/app/text.ts";
import { tinyReport } from "./report.ts";

test("a page that lacks something says how to make it again with it", () => {
  const made = tinyReport();
  made.commands = {
    ...made.commands,
    program: "gibbstream report m.gbs d.jsonl",
    python: 'load("m").report("p", texts)',
  };
  expect(withMore(made, "--time-field NAME", "times=times")).toEqual({
    command: "gibbstream report m.gbs d.jsonl --time-field NAME",
    python: 'load("m").report("p", texts, times=times)',
  });
  // Nothing can be added where nobody knows the command, or where there are no documents.
  expect(withMore({ ...made, documents: null }, "--time-field NAME", "times=times")).toBe(null);
  expect(withMore({ ...made, commands: { ...made.commands, program: "" } }, "--x", "x=1")).toBe(null);
});

test("reasons are sentences", () => {
  expect(sentence("no time field was given: run report with --time-field NAME")).toBe(
    "No time field was given: run report with --time-field NAME.",
  );
  expect(sentence("Give another model.")).toBe("Give another model.");
  expect(sentence("")).toBe("");
});
