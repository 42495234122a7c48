import { seenText } from "./matrices.ts";

// The matrices of the step as they stand on the page, drawn again.

const margin = 12;

const escaped = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");

/** Where an element stands, from the corner of the picture. */
type Place = (node: Element) => { x: number; y: number; width: number; height: number };

function textOf(node: Element, text: string, place: Place, at: "start" | "middle"): string {
  const { x, y, width, height } = place(node);
  const { fontSize, color } = getComputedStyle(node);
  const left = at === "start" ? x : x + width / 2;
  return `<text x="${left}" y="${y + height / 2}" font-size="${fontSize}" fill="${color}" text-anchor="${at}">${escaped(text)}</text>`;
}

/** A mixed colour is computed as color(srgb …), which programs that read SVG seldom know. */
const asRgb = (colour: string) =>
  colour.replace(/color\(srgb ([^)]*)\)/, (_, parts: string) => {
    const bytes = parts.split(" ").map((part) => Math.round(Number(part) * 255));
    return `rgb(${bytes.join(", ")})`;
  });

function cellOf(cell: HTMLElement, place: Place): string {
  const { x, y, width, height } = place(cell);
  const { backgroundColor } = getComputedStyle(cell);
  const box = `x="${x}" y="${y}" width="${width}" height="${height}"`;
  const text = cell.querySelector("input")?.value ?? seenText(cell);
  return [
    `<rect ${box} fill="${asRgb(backgroundColor)}" stroke="var(--line)"/>`,
    ...(cell.classList.contains("hidden") ? [`<rect ${box} fill="url(#hatch)"/>`] : []),
    ...(cell.classList.contains("leak")
      ? [`<rect ${box} fill="none" stroke="var(--leak)" stroke-width="3"/>`]
      : []),
    textOf(cell, text, place, "middle"),
  ].join("");
}

export function toSvg(): string {
  const figures = [...document.querySelectorAll<HTMLElement>("main [data-grid]")];
  const boxes = figures.map((figure) => figure.getBoundingClientRect());
  const [left, top] = [Math.min(...boxes.map((box) => box.left)), Math.min(...boxes.map((box) => box.top))];
  const place: Place = (node) => {
    const box = node.getBoundingClientRect();
    return { x: box.left - left + margin, y: box.top - top + margin, width: box.width, height: box.height };
  };
  // A matrix that scrolls in its frame is wider than what is seen of it.
  const ends = figures.flatMap((figure) => [...figure.querySelectorAll("td[data-row]")].map(place));
  const width = Math.max(...ends.map((end) => end.x + end.width)) + margin;
  const height = Math.max(...ends.map((end) => end.y + end.height)) + margin;

  const drawn = figures.flatMap((figure) => [
    ...[...figure.querySelectorAll("figcaption .label")].map((node) =>
      textOf(node, seenText(node), place, "start"),
    ),
    ...[...figure.querySelectorAll("th")].map((node) => textOf(node, seenText(node), place, "middle")),
    ...[...figure.querySelectorAll<HTMLElement>("td[data-row]")].map((cell) => cellOf(cell, place)),
  ]);
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => {
    // A custom property holds light-dark(); an element that uses it has the colour.
    const probe = document.body.appendChild(document.createElement("span"));
    probe.style.color = `var(${name})`;
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
  };
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="${escaped(style.fontFamily)}" dominant-baseline="central"><defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(-45)"><path d="M0 0H6" stroke="var(--hatch)"/></pattern></defs><rect width="100%" height="100%" fill="var(--paper)"/>${drawn.join("")}</svg>`;
  return svg.replaceAll(/var\((--[\w-]+)\)/g, (_, name: string) => colour(name));
}

/** At twice the size, for sharp prints. */
export async function toPng(svg: string): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = image.width * 2;
  canvas.height = image.height * 2;
  const context = canvas.getContext("2d");
  context?.scale(2, 2);
  context?.drawImage(image, 0, 0);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => {
      if (blob) resolve(blob);
      else reject(new Error("the canvas gave no picture"));
    }, "image/png");
  });
}
