// What a test with real tunnels needs: the rights of root, namespaces, nftables and the program.
import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { searchPath } from '../../processes/contract.js';
import { rightsProblem } from '../rights.js';

const run = promisify(execFile);

/** Path of amneziawg-go: in WEIR_AMNEZIAWG_BIN, in the folder of `npm test`, in one that WEIR_TEST_PROGRAMS names, on PATH, or where the tests keep such programs. */
export async function amneziawgGo(): Promise<string | undefined> {
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  const folders = [
    process.env['WEIR_TEST_SIDECARS'] ?? '',
    process.env['WEIR_TEST_PROGRAMS'] ?? '',
    ...(process.env['PATH'] ?? '').split(delimiter),
    join(cache, 'weir-test-programs'),
  ];
  const places = [
    process.env['WEIR_AMNEZIAWG_BIN'] ?? '',
    ...folders.map((folder) => join(folder, 'amneziawg-go')),
  ];
  for (const place of places)
    if (
      place.startsWith('/') &&
      (await access(place, constants.X_OK).then(
        () => true,
        () => false,
      ))
    )
      return place;
  return undefined;
}

/** Why there can be no tunnels here; empty where there can be. */
export async function whyNoTunnels(): Promise<string> {
  const problem = await whyNoTables();
  if (problem) return problem;
  return (await amneziawgGo()) ? '' : 'there is no amneziawg-go on PATH or in WEIR_TEST_PROGRAMS';
}

/** Why there can be no tables of nftables in a network namespace; empty where there can be. */
export async function whyNoTables(): Promise<string> {
  if (process.getuid?.() !== 0) return 'it makes network namespaces, which takes root';
  const problem = await rightsProblem();
  if (problem) return problem;
  const env = { ...process.env, PATH: searchPath() };
  try {
    await run('unshare', ['--net', '--mount', 'nft', 'add', 'table', 'inet', 'probe'], { env });
  } catch (error) {
    return `it makes network namespaces with tables of nftables, and cannot: ${(error as Error).message.split('\n')[1]}`;
  }
  return '';
}
