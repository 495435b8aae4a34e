// What services of tunnels answer as JSON text, and which inbounds run in programs of their own.
import type { InboundsOptionsReply, SidecarsListReply } from '../../../../sdk/index.js';

export type Program = SidecarsListReply[number];
export type InboundOption = InboundsOptionsReply[number];

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
export const isRunning = ({ state }: Program): boolean => state === RUNNING;
/** Why it does not run; blank where it does. */
export const reasonOf = ({ state }: Program): string =>
  state === RUNNING ? '' : state.replace(/^not running: /, '');

export interface ProgramInbound {
  readonly inbound: InboundOption;
  readonly program: Program | undefined;
}
/** Also an inbound that is off, and so has no process. */
const IN_PROGRAMS = ['amneziawg', 'mtproto'];

/** Inbounds of this machine that a program runs in place of the core, by name. */
export function inboundsInPrograms(
  inbounds: readonly InboundOption[],
  programs: readonly Program[],
): ProgramInbound[] {
  const protocols = new Set([...IN_PROGRAMS, ...programs.map(({ protocol }) => protocol)]);
  return inbounds
    .filter(({ nodeId, protocol }) => nodeId === null && protocols.has(protocol))
    .map((inbound) => ({
      inbound,
      program: programs.find(({ inboundIds }) => inboundIds.includes(inbound.id)),
    }));
}
