/** A matrix as it stands on the page. */
export interface ShownMatrix {
  id: string;
  label: string;
  rows: readonly string[];
  cols: readonly string[];
  /** Row-major. */
  data: readonly number[];
}

/** Text as it is seen: a formula's layout without the copy for assistive programs. */
export function seenText(node: Element): string {
  const copy = node.cloneNode(true) as Element;
  copy.querySelectorAll(".katex-mathml, .visually-hidden").forEach((hidden) => {
    hidden.remove();
  });
  copy.querySelectorAll(".sqrt").forEach((root) => {
    root.prepend("√");
  });
  return copy.textContent.replaceAll("\u200b", "").replace(/\s+/g, " ").trim();
}

const numberOf = (text: string | undefined) =>
  Number((text ?? "NaN").replace("−", "-").replace("∞", "Infinity"));

const texts = (table: Element, selector: string) => [...table.querySelectorAll(selector)].map(seenText);

/** Every matrix of the step, exact. */
export function shownMatrices(): ShownMatrix[] {
  return [...document.querySelectorAll<HTMLElement>("main [data-grid]")].map((figure) => ({
    id: figure.dataset["grid"] ?? "",
    label: seenText(figure.querySelector(".label") ?? figure),
    rows: texts(figure, "th[scope=row]"),
    cols: texts(figure, "th[scope=col]"),
    data: [...figure.querySelectorAll<HTMLElement>("td[data-value]")].map(({ dataset }) =>
      numberOf(dataset["value"]),
    ),
  }));
}
