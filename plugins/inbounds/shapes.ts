// What plugins may add to inbounds: protocols, and what they know of the rows of a reply.
import { checkedList, inspect, jsonRecord } from '../../kernel/index.js';
import type { InboundView, Protocol } from './contract.js';

const MOST_ROWS = 100_000;
/** Of the clients of one inbound only so many are looked at closely: there may be a hundred thousand. */
const LOOKED_AT = 20;
const RECORD = jsonRecord();

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Fields whose type programs rely on; what else is in a row is of the inbound itself or was added, and must be JSON. */
const TYPES: Readonly<Record<string, string>> = {
  id: 'number',
  up: 'number',
  down: 'number',
  port: 'number',
  total: 'number',
  expiryTime: 'number',
  enable: 'boolean',
  tag: 'string',
  remark: 'string',
  protocol: 'string',
};
const OF_THE_INBOUND = ['settings', 'streamSettings', 'sniffing'];

function viewProblem(row: unknown): string | undefined {
  if (!isObject(row)) return 'it must be an inbound';
  const { clientStats, ...fields } = row as InboundView & Readonly<Record<string, unknown>>;
  for (const [name, type] of Object.entries(TYPES))
    if (typeof fields[name] !== type || Number.isNaN(fields[name])) return `${name} must be a ${type}`;
  const other = OF_THE_INBOUND.find((name) => !isObject(fields[name]));
  if (other !== undefined) return `${other} must be an object`;
  if (!Array.isArray(clientStats) || !clientStats.every(isObject))
    return 'clientStats must be a list of objects';
  const added = Object.entries(fields).filter(([name]) => !(name in TYPES) && !OF_THE_INBOUND.includes(name));
  const result = inspect(
    RECORD,
    { ...Object.fromEntries(added), clientStats: clientStats.slice(0, LOOKED_AT) },
    { first: true },
  );
  return 'issues' in result ? result.issues[0]?.message : undefined;
}
/** By hand, as a list of inbounds may have a hundred thousand clients in it. */
export const viewsShape = checkedList<InboundView>(MOST_ROWS, viewProblem);

/** What keeps a protocol from being used at all. */
export function protocolProblem(protocol: Protocol): string | undefined {
  const { name, settings } = protocol;
  if (typeof name !== 'string' || name === '') return 'a protocol needs a name';
  try {
    inspect(settings, {});
  } catch {
    return `the settings of the protocol ${name} must be a schema`;
  }
  const missing = (['coreSettings', 'account', 'link'] as const).find(
    (key) => typeof protocol[key] !== 'function',
  );
  return missing && `the protocol ${name} needs a function ${missing}`;
}
