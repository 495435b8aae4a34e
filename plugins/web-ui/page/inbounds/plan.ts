// What saving an inbound does to the core, before it is saved: of the costs that its schemas say.
import { fieldsOf, isRecord, type JsonSchema, mainOf, type Values } from '../forms/schema.js';
import type { Cost } from '../forms/values.js';
import { fieldsBeside, partOf, type ProtocolsReply, type TransportsReply } from './document.js';

/** `idle`: the core does not have it, before and after; `replace`, `remove` and `program` end its connections, `core` all. */
export type Plan = 'idle' | 'none' | 'add' | 'replace' | 'remove' | 'program' | 'core';

export interface Schemas {
  readonly protocols: ProtocolsReply;
  readonly transports: TransportsReply;
}

const isOn = ({ enable }: Values): boolean => enable !== false;
const differs = (a: unknown, b: unknown): boolean => JSON.stringify(a) !== JSON.stringify(b);
const ORDER: readonly Cost[] = ['none', 'panel', 'replace', 'core'];

/** The dearest change within a part. What its schema does not know, or does not say the cost of, is for the core, too. */
function costWithin(schema: JsonSchema | null | undefined, before: Values, after: Values): Cost {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return dearest(
    [...names].map((name) => {
      const [old, next] = [before[name], after[name]];
      if (!differs(old, next)) return 'none';
      const declared = schema?.properties?.[name];
      if (!declared) return 'replace';
      const own = mainOf(declared);
      // Fields of one object may cost differently.
      if (own.properties && isRecord(old ?? {}) && isRecord(next ?? {}))
        return costWithin(own, (old ?? {}) as Values, (next ?? {}) as Values);
      return own['x-weir']?.change ?? 'replace';
    }),
  );
}

const dearest = (costs: readonly Cost[]): Cost => ORDER.findLast((cost) => costs.includes(cost)) ?? 'none';

function streamCost({ transports }: Schemas, before: Values, after: Values): Cost {
  const parts = [...transports.networks, ...transports.securities].filter(({ key }) => key !== '');
  const known = new Set(parts.map(({ key }) => key));
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  if ([...names].some((name) => !known.has(name) && differs(before[name], after[name]))) return 'replace';
  return dearest(
    parts.map(({ key, settings }) => costWithin(settings, partOf(before, key), partOf(after, key))),
  );
}

const besides = ({
  protocol: _,
  settings: __,
  streamSettings: ___,
  sniffing: ____,
  ...rest
}: Values): Values => rest;

const protocolOf = ({ protocols }: Schemas, document: Values) =>
  protocols.protocols.find(({ name }) => name === document['protocol']);

/** Whether the core lets go of it only by a restart: fields of its protocol cost that. */
const isHeld = (schemas: Schemas, document: Values): boolean =>
  fieldsOf(protocolOf(schemas, document)?.settings ?? {}).some(({ words }) => words.change === 'core');

const isProgram = (schemas: Schemas, document: Values): boolean =>
  protocolOf(schemas, document)?.runBy === 'program';

/** What ends when it leaves the core. */
export function planOfRemoval(schemas: Schemas, before: Values): Plan {
  if (!isOn(before)) return 'idle';
  return isHeld(schemas, before) ? 'core' : 'remove';
}

/** `before` is undefined for a new inbound. */
export function planOf(schemas: Schemas, before: Values | undefined, after: Values): Plan {
  if (!before || !isOn(before)) return isOn(after) ? 'add' : 'idle';
  if (!isOn(after)) return planOfRemoval(schemas, before);
  const cost =
    before['protocol'] !== after['protocol']
      ? isHeld(schemas, before)
        ? 'core'
        : 'replace'
      : dearest([
          costWithin(fieldsBeside(schemas.protocols), besides(before), besides(after)),
          costWithin(
            protocolOf(schemas, after)?.settings,
            partOf(before, 'settings'),
            partOf(after, 'settings'),
          ),
          streamCost(schemas, partOf(before, 'streamSettings'), partOf(after, 'streamSettings')),
          costWithin(schemas.transports.sniffing, partOf(before, 'sniffing'), partOf(after, 'sniffing')),
        ]);
  if (cost === 'none' || cost === 'panel') return 'none';
  if (cost === 'core' || isHeld(schemas, before)) return 'core';
  return isProgram(schemas, after) ? 'program' : 'replace';
}

/** Whether connections end, and of whom: of this inbound, or of all. */
export const endsOf = (plan: Plan): 'none' | 'some' | 'all' =>
  plan === 'core' ? 'all' : plan === 'replace' || plan === 'remove' || plan === 'program' ? 'some' : 'none';
