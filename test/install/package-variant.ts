// Further releases for tests of an upgrade: a built package with another version and one plugin more.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const PLUGIN = 'upgrade-probe';
const sha256 = (text: string | Buffer): string => createHash('sha256').update(text).digest('hex');

export interface Variant {
  readonly version: string;
  /** statements of migrations, in order */
  readonly migrations: readonly string[];
  /** the panel cannot run without the plugin */
  readonly essential?: boolean;
  /** body of its `start`, with `dataDirectory` */
  readonly start?: string;
}

const sourceOf = ({ migrations, essential = false, start = '' }: Variant): string =>
  `import { definePlugin } from '../../kernel/index.js';
export default definePlugin({
  name: '${PLUGIN}', version: '0.1.0', api: 1, about: 'For a test.', essential: ${essential},
  migrations: ${JSON.stringify(migrations)}.map((sql, i) => ({ name: '000' + (i + 1) + '-probe', up: () => [sql] })),
  async start({ dataDirectory }) { ${start} },
});
`;

/** Writes the variant beside the package; resolves with its folder. */
export async function writeVariant(base: string, variant: Variant): Promise<string> {
  const { version } = variant;
  const folder = join(dirname(base), basename(base).replace(/^weir-[^-]+/, `weir-${version}`));
  await run('cp', ['-al', base, folder]);
  const digests = new Map<string, string>();
  const write = async (path: string, text: string): Promise<void> => {
    // The copy has the files of the package itself.
    await rm(join(folder, path), { force: true });
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
    digests.set(path, sha256(text));
  };
  const changed = async (path: string, change: (value: never) => unknown): Promise<void> => {
    const value = JSON.parse(await readFile(join(base, path), 'utf8')) as never;
    await write(path, `${JSON.stringify(change(value), null, 2)}\n`);
  };
  await changed('VERSION', (about: object) => ({ ...about, version }));
  await changed('app/package.json', (manifest: object) => ({ ...manifest, version }));
  await changed('app/config/presets/standard.json', (names: string[]) => [...names, PLUGIN]);
  await write(`app/dist/plugins/${PLUGIN}/index.js`, sourceOf(variant));
  const list = (await readFile(join(base, 'FILES.sha256'), 'utf8'))
    .split('\n')
    .filter((line) => line !== '' && !digests.has(line.slice(66)));
  const added = [...digests].map(([path, digest]) => `${digest}  ${path}`);
  await rm(join(folder, 'FILES.sha256'));
  await writeFile(join(folder, 'FILES.sha256'), `${[...list, ...added].join('\n')}\n`);
  return folder;
}

/** Packs a variant, with SHA256SUMS beside the file; resolves with the name of the file. */
export async function packVariant(folder: string): Promise<string> {
  const name = `${basename(folder)}.tar.gz`;
  const file = join(dirname(folder), name);
  await run('tar', ['-C', dirname(folder), '--use-compress-program=gzip -1', '-cf', file, basename(folder)]);
  await writeFile(join(dirname(folder), 'SHA256SUMS'), `${sha256(await readFile(file))}  ${name}\n`);
  return name;
}
