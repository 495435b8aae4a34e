// What a real 3x-ui exported: its clients/export and its inbounds/list, both of one moment.
import { readFileSync } from 'node:fs';
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

const root = await sourceRoot();
const read = <T>(name: string): T =>
  (JSON.parse(readFileSync(new URL(`plugins/compat-3xui/test/fixture/${name}`, root), 'utf8')) as { obj: T })
    .obj;

export const oldPanel = () => ({
  /** Unix ms, a second after its last change */
  madeAt: 1_795_304_420_000,
  clients: read<OldClient[]>('export.json'),
  inbounds: read<OldInbound[]>('inbounds-list.json'),
});
