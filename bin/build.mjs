// Builds a checkout when its sources have changed: `npm run build`, `npm pack`, and npm when somebody installs the checkout
// for the types and the tests of a plugin (`npm install --save-dev ../weir`).
import { setUpBuild } from './setup.mjs';

await setUpBuild();
