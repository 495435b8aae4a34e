// Packs the client as a package of npm, `npm run sdk`: @weir-panel/sdk, as ESM and CommonJS, in dist/packages. With
// `-- --folder <folder>` it leaves the folder of the package there instead.
import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { packSdk, sdkFolder } from './package/sdk.mjs';
import { say } from './package/target.mjs';
import { checkNode } from './setup.mjs';

async function main() {
  const { values } = parseArgs({
    options: { out: { type: 'string', default: 'dist/packages' }, folder: { type: 'string' } },
  });
  checkNode();
  if (values.folder !== undefined) {
    process.stdout.write(`${await sdkFolder(resolve(values.folder))}\n`);
    return;
  }
  const out = resolve(values.out);
  await mkdir(out, { recursive: true });
  process.stdout.write(`${await packSdk(out)}\n`);
}

await main().catch((error) => {
  say(error.message);
  process.exitCode = 1;
});
