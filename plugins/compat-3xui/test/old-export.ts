// What a real 3x-ui exported: its clients/export and its inbounds/list, both of one moment.
import { readFile } from 'node:fs/promises';
import { sourceRoot } from '../../../test/harness/source-root.js';

export interface OldClient {
  readonly client: Readonly<Record<string, unknown>>;
  readonly inboundIds: readonly number[];
}
export interface OldStat extends Readonly<Record<string, unknown>> {
  readonly email: string;
  readonly up: number;
  readonly down: number;
  readonly expiryTime: number;
}
export interface OldInbound extends Readonly<Record<string, unknown>> {
  readonly settings: { readonly clients: readonly Readonly<Record<string, unknown>>[] } & Readonly<
    Record<string, unknown>
  >;
  readonly clientStats: readonly OldStat[];
}

async function read<T>(name: string): Promise<T> {
  const path = new URL(`plugins/compat-3xui/test/fixture/${name}`, await sourceRoot());
  return (JSON.parse(await readFile(path, 'utf8')) as { obj: T }).obj;
}

export const oldPanel = async () => ({
  /** Unix ms, a second after its last change */
  madeAt: 1_795_304_420_000,
  clients: await read<OldClient[]>('export.json'),
  inbounds: await read<OldInbound[]>('inbounds-list.json'),
});
