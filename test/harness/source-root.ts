// The folder of the checkout, whatever the compiled files lie in.
import { readFile } from 'node:fs/promises';

export async function sourceRoot(): Promise<URL> {
  for (let folder = new URL('./', import.meta.url); ; folder = new URL('../', folder)) {
    const manifest = await readFile(new URL('package.json', folder), 'utf8').catch(() => '{}');
    if ((JSON.parse(manifest) as { name?: string }).name === '@weir-panel/weir') return folder;
    if (folder.pathname === '/') throw new Error('there is no package.json of weir above this file');
  }
}
