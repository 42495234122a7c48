/** Waits until the step stands whole: drawn, and nothing being computed. */
export const settled = (page) =>
  page.waitForFunction(
    () => document.querySelector("#step") && !document.querySelector("[aria-busy=true], [data-run=running]"),
  );
