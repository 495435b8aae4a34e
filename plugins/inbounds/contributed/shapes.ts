// Validates what plugins add to inbounds: protocols, and rows of a reply.
import { checkedList, inspect, whyNotJson } from '../../../kernel/index.js';
import type { InboundView, Protocol, ProtocolProgram } from '../contract.js';
import { hiddenNames, inboundRecord } from '../fields.js';

const MOST_ROWS = 100_000;
/** Clients of an inbound that are checked in detail: it may have 100,000. */
const LOOKED_AT = 20;

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Fields of the inbound itself, by type: programs rely on them. All other fields of a row must be JSON. */
const TYPES: Readonly<Record<string, string>> = {
  id: 'number',
  up: 'number',
  down: 'number',
  state: 'string',
  ...Object.fromEntries(
    Object.entries(inboundRecord.create({}))
      .filter(([name, initial]) => initial !== null && !hiddenNames.includes(name as never))
      .map(([name, initial]) => [name, typeof initial]),
  ),
};
const TYPED = Object.keys(TYPES);

function viewProblem(row: unknown): string | undefined {
  if (!isObject(row)) return 'it must be an inbound';
  const { clientStats, ...fields } = row as InboundView & Readonly<Record<string, unknown>>;
  for (const name of TYPED)
    if (typeof fields[name] !== TYPES[name] || Number.isNaN(fields[name]) || fields[name] === null)
      return `${name} must be ${TYPES[name] === 'object' ? 'an object' : `a ${TYPES[name]}`}`;
  if (!Array.isArray(clientStats) || !clientStats.every(isObject))
    return 'clientStats must be a list of objects';
  for (const name in fields) {
    const isTyped = name in TYPES || fields[name] === undefined;
    const found = isTyped ? undefined : whyNotJson(fields[name]);
    if (found !== undefined) return `${name}: ${found}`;
  }
  return whyNotJson(clientStats.slice(0, LOOKED_AT));
}
/** Not a schema, as a list of inbounds may contain 100,000 clients. */
export const viewsShape = checkedList<InboundView>(MOST_ROWS, viewProblem);

function credentialProblem({ name, credential }: Protocol): string | undefined {
  if (credential === undefined) return undefined;
  const { flat, schema } = credential;
  if (!Array.isArray(flat)) return `credential.flat of the protocol ${name} must be a list of names`;
  try {
    inspect(schema, {});
  } catch {
    return `credential.schema of the protocol ${name} must be a schema`;
  }
  const missing = (['create', 'keys'] as const).find((key) => typeof credential[key] !== 'function');
  return missing && `the credential of the protocol ${name} needs a function ${missing}`;
}

/** Returns why a protocol cannot be used; undefined when it can. */
export function protocolProblem(protocol: Protocol): string | undefined {
  const { name, settings } = protocol;
  if (typeof name !== 'string' || name === '') return 'a protocol needs a name';
  const { coreName = name, title = name } = protocol;
  if (typeof title !== 'string' || title === '') return `title of the protocol ${name} must be a word`;
  if (typeof coreName !== 'string' || coreName === '')
    return `coreName of the protocol ${name} must be a word`;
  try {
    inspect(settings, {});
  } catch {
    return `the settings of the protocol ${name} must be a schema`;
  }
  const faulty = credentialProblem(protocol);
  if (faulty !== undefined) return faulty;
  const missing = (['coreSettings', 'account', 'entry'] as const).find(
    (key) => typeof protocol[key] !== 'function',
  );
  if (missing) return `the protocol ${name} needs a function ${missing}`;
  const wrong = (
    ['accounts', 'option', 'l4', 'clientless', 'note', 'reserve', 'coreStream', 'streamProblem'] as const
  ).find((key) => protocol[key] !== undefined && typeof protocol[key] !== 'function');
  if (wrong) return `${wrong} of the protocol ${name} must be a function`;
  const { runBy = 'program' } = protocol;
  return runBy === 'program' ? undefined : `runBy of the protocol ${name} must be program`;
}

/** Returns why a program cannot be used; undefined when it can. */
export function programProblem({ protocol, state }: ProtocolProgram): string | undefined {
  if (typeof protocol !== 'string' || protocol === '') return 'a program needs the name of a protocol';
  return typeof state === 'function' ? undefined : `the program of ${protocol} needs a function state`;
}
