const signs = ["pointermove", "pointerdown", "touchstart", "wheel", "scroll", "keydown", "focusin", "click"];

/** Whoever reads. A page that is opened and left alone does not fetch what only they would use. */
class Reader {
  readonly arrival = new Promise<unknown>((done) => {
    for (const sign of signs) addEventListener(sign, done, { once: true, passive: true, capture: true });
  });
  isHere = $state.raw(false);

  constructor() {
    void this.arrival.then(() => {
      this.isHere = true;
    });
  }
}

export const reader = new Reader();
