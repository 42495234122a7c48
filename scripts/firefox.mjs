// The system's Firefox, driven by WebDriver BiDi.

import { which } from "./which.mjs";

export function findFirefox() {
  return process.env.SOFTLOOKUP_FIREFOX ?? which("firefox-esr", "firefox");
}
