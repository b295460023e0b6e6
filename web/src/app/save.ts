// Files from the page: nothing leaves it but through the user's own download.
import { paint, type Scene, toSvg } from "../charts/scene.ts";

export function save(name: string, content: Blob | string, type = "text/plain"): void {
  const blob = typeof content === "string" ? new Blob([content], { type: `${type};charset=utf-8` }) : content;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** The value of a colour as the page has it now. */
export const colour = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export const saveSvg = (name: string, scene: Scene) => save(name, toSvg(scene, colour), "image/svg+xml");

export async function savePng(name: string, scene: Scene): Promise<void> {
  const canvas = document.createElement("canvas");
  // Twice as fine as the screen, within what browsers allow.
  const scale = Math.min(2, 8000 / Math.max(scene.width, scene.height));
  canvas.width = Math.round(scene.width * scale);
  canvas.height = Math.round(scene.height * scale);
  const context = canvas.getContext("2d")!;
  context.scale(scale, scale);
  paint(context, scene, colour);
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve));
  if (blob) save(name, blob);
}
