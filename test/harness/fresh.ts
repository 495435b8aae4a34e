// Reports when a test of a third-party plugin runs on a checkout of Weir that was not built after its last change.
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = new URL('../../../', import.meta.url);

/** Warns once, outside the checkout: in it those who run tests build first. */
export async function warnWhenStale(folder = process.cwd()): Promise<void> {
  const root = fileURLToPath(ROOT);
  if (!relative(root, folder).startsWith('..')) return;
  const { isStale } = (await import(new URL('bin/setup.mjs', ROOT).href)) as {
    isStale: () => Promise<boolean>;
  };
  if (await isStale())
    process.emitWarning(
      `the checkout of Weir in ${root} has changed since it was built; run npm run build there`,
    );
}
