// The files of examples/cluster, with the addresses of the proof in the place of example names.
import { readFile } from 'node:fs/promises';
import { sourceRoot } from '../harness/source-root.js';
import type { Machine } from './machine.js';

export async function example(
  name: 'galera.cnf' | 'haproxy.cfg' | 'haproxy-database.cfg',
  machines: readonly Machine[],
): Promise<string> {
  const text = await readFile(new URL(`examples/cluster/${name}`, await sourceRoot()), 'utf8');
  const replaced = machines.reduce(
    (so, machine) => so.replaceAll(`${machine.name}.example.com`, machine.host),
    text,
  );
  const [left] = /\S*\.example\.com/.exec(replaced) ?? [];
  if (left !== undefined) throw new Error(`${name} names ${left}, which is no machine of the proof`);
  return replaced;
}
