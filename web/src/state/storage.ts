// What the browser keeps for the reader. Storage may be switched off; all then lasts as long as the page.

const nameOf = (key: string) => `softlookup.${key}`;

export function stored(key: string): string | null {
  try {
    return localStorage.getItem(nameOf(key));
  } catch {
    return null;
  }
}

export function keep(key: string, value: string): void {
  try {
    localStorage.setItem(nameOf(key), value);
  } catch {
    // See above.
  }
}

export function forget(key: string): void {
  try {
    localStorage.removeItem(nameOf(key));
  } catch {
    // See above.
  }
}
