// Builds a checkout when its sources have changed: for `npm run build` and `npm pack`, and when the checkout is installed
// for the types and the test harness of a plugin (`npm install --save-dev ../weir`).
import { setUpBuild } from './setup.mjs';

await setUpBuild();
