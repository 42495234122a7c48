import { toCsv, toJson } from "./data.ts";
import { shownMatrices } from "./matrices.ts";
import { toPng, toSvg } from "./picture.ts";

export { codeOf } from "./code.ts";
export { embedCode } from "./embed.ts";

export type FileKind = "JSON" | "CSV" | "SVG" | "PNG";

async function contents(kind: FileKind, link: string): Promise<Blob> {
  switch (kind) {
    case "JSON":
      return new Blob([toJson(shownMatrices(), link)], { type: "application/json" });
    case "CSV":
      return new Blob([toCsv(shownMatrices())], { type: "text/csv" });
    case "SVG":
      return new Blob([toSvg()], { type: "image/svg+xml" });
    case "PNG":
      return toPng(toSvg());
  }
}

/** Hands the matrices of the step to the browser as a file. */
export async function save(kind: FileKind, name: string, link: string): Promise<void> {
  const url = URL.createObjectURL(await contents(kind, link));
  const anchor = document.createElement("a");
  anchor.href = url;
  anchor.download = `${name}.${kind.toLowerCase()}`;
  anchor.click();
  // The browser reads the file after the click.
  setTimeout(() => {
    URL.revokeObjectURL(url);
  }, 10_000);
}
