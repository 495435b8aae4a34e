// The browser of the tests: one of the system, never a download of its own.
import { installPackage, pathOf } from './system-package.mjs';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];
const find = () => NAMES.map(pathOf).find((path) => path !== undefined);

/** One that is there, or undefined. */
export const installedChromium = () => process.env.WEIR_TEST_CHROMIUM || find();

/** Resolves with `{ browser }`, its path, or with `{ missing }`, a sentence that says why there is none. `WEIR_TEST_CHROMIUM` names another one. */
export async function chromium() {
  const found = installedChromium();
  if (found) return { browser: found };
  const missing = await installPackage({
    what: 'Chromium',
    wanted: 'Chromium or Chrome',
    program: 'chromium',
    name: 'chromium',
  });
  return missing ? { missing } : { browser: find() };
}
