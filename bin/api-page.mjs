// The page of the API, beside the compiled plugin that serves it: our own files, and those of the viewer that a browser needs.
import { copyFile, cp, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

export const PAGE = join('plugins', 'api-docs', 'page');
const VIEWER = 'swagger-ui-dist';
/** Of 12 MB in the package; the last three are its licence, that of its parts, and its notice (decision 55). */
const FILES = [
  'swagger-ui-bundle.js',
  'swagger-ui.css',
  'LICENSE',
  'swagger-ui-bundle.js.LICENSE.txt',
  'NOTICE',
];

/** Copies it from the checkout `root` into a build; resolves with name, version, licence and folder of the viewer. */
export async function copyApiPage(root, dist) {
  const page = join(dist, PAGE);
  const folder = join(page, 'viewer');
  const from = join(root, 'node_modules', VIEWER);
  await mkdir(folder, { recursive: true });
  await cp(join(root, PAGE), page, { recursive: true });
  for (const file of FILES) await copyFile(join(from, file), join(folder, file));
  const { name, version, license } = JSON.parse(await readFile(join(from, 'package.json'), 'utf8'));
  return { name, version, license, folder };
}
