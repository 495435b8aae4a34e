// The browser of the tests: one of the system, never a download of its own.
import { installPackage, pathOf } from './system-package.mjs';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];
const find = () => NAMES.map(pathOf).find((path) => path !== undefined);

/** Resolves with `{ browser }`, its path, or with `{ missing }`, a sentence that says why there is none. `WEIR_TEST_CHROMIUM` names another one. */
export async function chromium() {
  const named = process.env.WEIR_TEST_CHROMIUM;
  const found = named || find();
  if (found) return { browser: found };
  const missing = await installPackage({
    what: 'Chromium',
    wanted: 'Chromium or Chrome',
    program: 'chromium',
    name: 'chromium',
  });
  return missing ? { missing } : { browser: find() };
}
