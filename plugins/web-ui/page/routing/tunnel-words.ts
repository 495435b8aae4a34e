// What services of tunnels answer as JSON text, and which inbounds run in programs of their own.
import type { InboundsListSlimReply, SidecarsListReply } from '../../../../sdk/index.js';

export type Program = SidecarsListReply[number];
export type InboundOfList = Pick<
  InboundsListSlimReply[number],
  'id' | 'remark' | 'protocol' | 'port' | 'enable' | 'nodeId' | 'state'
>;

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
};
const textIn = (value: unknown, name: string): string => {
  const found = (value as Readonly<Record<string, unknown>> | null | undefined)?.[name];
  return typeof found === 'string' ? found : '';
};
const numberIn = (value: unknown, name: string): number => {
  const found = (value as Readonly<Record<string, unknown>> | null | undefined)?.[name];
  return typeof found === 'number' && Number.isFinite(found) ? found : 0;
};
const listIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Id of the stored device; blank for none. Its secrets are not kept. */
export const deviceIn = (text: string): string => textIn(parsed(text), 'device_id');
/** What the panel warns of beside a new device. */
export const warningIn = (text: string): string => textIn(parsed(text), 'warning');

export interface Country {
  readonly id: number;
  readonly name: string;
}
export const countriesIn = (text: string): Country[] =>
  listIn(parsed(text))
    .map((country) => ({ id: numberIn(country, 'id'), name: textIn(country, 'name') }))
    .filter(({ id, name }) => id > 0 && name !== '')
    .sort((a, b) => a.name.localeCompare(b.name));

export interface Server {
  readonly hostname: string;
  /** percent */
  readonly load: number;
}
/** A country has thousands; those with the least load are enough to choose from. */
const MOST_SERVERS = 200;
export const serversIn = (text: string): Server[] =>
  listIn((parsed(text) as { readonly servers?: unknown } | undefined)?.servers)
    .map((server) => ({ hostname: textIn(server, 'hostname'), load: numberIn(server, 'load') }))
    .filter(({ hostname }) => hostname !== '')
    .sort((a, b) => a.load - b.load)
    .slice(0, MOST_SERVERS);

const RUNNING = 'running';
export const isRunning = (state: string): boolean => state === RUNNING;
/** Why it does not run; blank where it does. */
export const reasonOf = (state: string): string =>
  state === RUNNING ? '' : state.replace(/^not running: /, '');

export interface ProgramInbound {
  readonly inbound: InboundOfList;
  /** undefined while there is no process */
  readonly program: Program | undefined;
}

/** Inbounds of this machine that a program runs in place of the core. */
export const inboundsInPrograms = (
  inbounds: readonly InboundOfList[],
  programs: readonly Program[],
): ProgramInbound[] =>
  inbounds
    .filter(({ nodeId, state }) => nodeId === null && state !== '')
    .map((inbound) => ({
      inbound,
      program: programs.find(({ inboundIds }) => inboundIds.includes(inbound.id)),
    }));
