// A folder of geodata without a panel.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { AssetFiles } from '../asset-files.js';
import { Browser } from '../browse.js';
import { SourceRecords } from '../source-records.js';

export async function place(t: ExecutionContext, files: Readonly<Record<string, Buffer | string>>) {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'weir-geo-'));
  t.teardown(() => rm(dataDirectory, { recursive: true, force: true }));
  await mkdir(join(dataDirectory, 'geodata'));
  const put = async (name: string, content: Buffer | string) =>
    writeFile(join(dataDirectory, 'geodata', name), content);
  for (const [name, content] of Object.entries(files)) await put(name, content);
  const assets = new AssetFiles({ dataDirectory });
  return {
    assets,
    put,
    browser: new Browser({ files: assets, records: new SourceRecords({ files: assets }) }),
  };
}
export const all = { q: '', offset: 0, limit: 500 };
