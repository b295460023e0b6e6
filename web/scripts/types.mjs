// TypeScript types from the JSON schema that the library writes. With --check: fails if the committed ones differ.
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const schemaPath = fileURLToPath(new URL("../../docs/schema/report-1.json", import.meta.url));
const typesPath = fileURLToPath(new URL("../src/data/report.ts", import.meta.url));

const nameOf = (reference) => reference.split("/").at(-1);

/** The type of one schema, as TypeScript. */
function typeOf(schema) {
  if (schema === true || Object.keys(schema).length === 0) return "unknown";
  if (schema.$ref) return nameOf(schema.$ref);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return choices.map(typeOf).join(" | ");
  if (schema.allOf?.length === 1) return typeOf(schema.allOf[0]);
  const types = [schema.type].flat();
  if (types.length > 1) return types.map((type) => typeOf({ ...schema, type })).join(" | ");
  switch (types[0]) {
    case "string":
      return "string";
    case "boolean":
      return "boolean";
    case "null":
      return "null";
    case "number":
    case "integer":
      return "number";
    case "array": {
      if (schema.prefixItems) return `[${schema.prefixItems.map(typeOf).join(", ")}]`;
      const { items, minItems, maxItems } = schema;
      if (minItems !== undefined && minItems === maxItems) return `[${Array(minItems).fill(typeOf(items)).join(", ")}]`;
      const item = typeOf(items ?? true);
      return item.includes(" | ") ? `(${item})[]` : `${item}[]`;
    }
    case "object":
      if (schema.patternProperties)
        return `Record<string, ${Object.values(schema.patternProperties).map(typeOf).join(" | ")}>`;
      return schema.properties ? fieldsOf(schema) : `Record<string, ${typeOf(schema.additionalProperties ?? true)}>`;
    default:
      throw new Error(`no type for ${JSON.stringify(schema)}`);
  }
}

const comment = (text, indent) =>
  text ? `${indent}/** ${text.replaceAll("\n", " ").replaceAll("*/", "* /")} */\n` : "";

function fieldsOf({ properties, required = [] }) {
  const fields = Object.entries(properties).map(([name, schema]) => {
    const optional = required.includes(name) ? "" : "?";
    return `${comment(schema.description, "  ")}  ${name}${optional}: ${typeOf(schema)};\n`;
  });
  return `{\n${fields.join("")}}`;
}

export function typesOf(schema) {
  const all = { ...schema.$defs, [schema.title]: schema };
  const interfaces = Object.keys(all)
    .sort()
    .map((name) => {
      const body = all[name];
      const shape = body.properties
        ? `export interface ${name} ${fieldsOf(body)}`
        : `export type ${name} = ${typeOf(body)};`;
      return `${comment(body.description, "")}${shape}\n`;
    });
  return `// Made by scripts/types.mjs from docs/schema/report-1.json: do not edit.\n\n${interfaces.join("\n")}`;
}

const made = typesOf(JSON.parse(readFileSync(schemaPath, "utf8")));
if (!process.argv.includes("--check")) {
  writeFileSync(typesPath, made);
} else if (readFileSync(typesPath, "utf8") !== made) {
  console.error("src/data/report.ts is not what docs/schema/report-1.json gives: run npm run types");
  process.exit(1);
}
