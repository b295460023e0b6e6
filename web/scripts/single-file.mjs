// Puts script and style into the one HTML file, and their hashes into its content security policy.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

const hashOf = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** A Vite plugin: nothing is written but `output`, made from `template`. */
export function singleFile(template, output) {
  return {
    name: "single-file",
    apply: "build",
    enforce: "post",
    generateBundle(_, bundle) {
      const files = Object.values(bundle);
      const script = files.filter((file) => file.type === "chunk").map((file) => file.code.trim());
      const style = files.filter((file) => file.fileName.endsWith(".css")).map((file) => String(file.source).trim());
      if (script.length !== 1 || style.length !== 1) {
        throw new Error(`expected one script and one style, got ${script.length} and ${style.length}`);
      }
      mkdirSync(dirname(output), { recursive: true });
      writeFileSync(output, compose(readFileSync(template, "utf8"), script[0], style[0]));
      for (const name of Object.keys(bundle)) delete bundle[name];
    },
  };
}

function compose(template, script, style) {
  if (/<\/script/i.test(script) || /<\/style/i.test(style)) throw new Error("a closing tag inside the script or style");
  const fill = (text, mark, value) => {
    if (text.split(mark).length !== 2) throw new Error(`${mark} must stand in the template once`);
    return text.replace(mark, () => value);
  };
  let page = fill(template, "SCRIPT_HASH", hashOf(script));
  page = fill(page, "STYLE_HASH", hashOf(style));
  // With the tags: the hashes are of everything between them.
  page = fill(page, "<style>/* STYLE */</style>", `<style>${style}</style>`);
  return fill(page, "<script>/* SCRIPT */</script>", `<script>${script}</script>`);
}
