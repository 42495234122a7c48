import { lessonIds } from "../src/content/lesson.ts";
import { lookup } from "../src/content/lookup.ts";
import { languages } from "../src/content/text.ts";
import { ui } from "../src/content/ui.ts";

/** The beginning of the first lesson as the page will show it, there before any program is. */
export function early(): string {
  const number = String(lessonIds.indexOf(lookup.id) + 1);
  const articles = languages.map((language) => {
    const kicker = `${ui.lessonNumber[language].replace("{number}", number)} · ${lookup.title[language]}`;
    return `<article lang="${language}">
      <header><p class="kicker">${kicker}</p><h1>${lookup.question[language]}</h1></header>
      <p class="lede">${lookup.lede[language]}</p>
    </article>`;
  });
  return `<div class="early">
    <div class="bar"><p class="brand"><strong>softlookup</strong></p></div>
    <div class="shell"><div class="list"></div><div class="content">${articles.join("")}</div></div>
  </div>`;
}
