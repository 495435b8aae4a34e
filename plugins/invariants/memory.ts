// Compares each projection with a second state that is loaded from the database.
import { createHash } from 'node:crypto';
import type { Projection } from '../../kernel/index.js';
import { canonical } from './canonical.js';
import type { Comparable, Findings, Invariant } from './contract.js';

/** A change may arrive between the load and the comparison: only what differs each time is a finding. */
const ROUNDS = 3;
const MOST_SHOWN = 400;

const isComparable = (state: object): state is Comparable =>
  typeof (state as Partial<Comparable>).comparedParts === 'function';

/** The parts of a state, each with a name: entries of its maps, and everything else that it has. */
function* partsOf(state: object, prefix = ''): Iterable<readonly [string, unknown]> {
  if (isComparable(state)) yield* state.comparedParts();
  else if (state instanceof Map)
    for (const [key, value] of state) yield [`${prefix}${canonical(key)}`, value];
  else
    for (const [key, value] of Object.entries(state))
      if (value instanceof Map) yield* partsOf(value, `${key} `);
      else yield [key, value];
}

/** Digests, as two copies of 100,000 clients would double the memory of the panel. */
async function digests(state: object, findings: Findings, only?: ReadonlySet<string>) {
  const all = new Map<string, string>();
  for (const [part, value] of partsOf(state)) {
    await findings.pause();
    if (!only || only.has(part)) all.set(part, createHash('sha1').update(canonical(value)).digest('base64'));
  }
  return all;
}

function differing(
  one: ReadonlyMap<string, string>,
  other: ReadonlyMap<string, string>,
): ReadonlySet<string> {
  const parts = new Set([...one.keys(), ...other.keys()]);
  return new Set([...parts].filter((part) => one.get(part) !== other.get(part)));
}

const shown = (state: object, part: string): string => {
  for (const [name, value] of partsOf(state))
    if (name === part) {
      const text = canonical(value);
      return text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text;
    }
  return 'nothing';
};

async function compare(projection: Projection<object, unknown>, findings: Findings): Promise<void> {
  let suspects: ReadonlySet<string> | undefined;
  for (let round = 1; round <= ROUNDS; round++) {
    const fresh = await projection.fresh();
    suspects = differing(
      await digests(projection.state, findings, suspects),
      await digests(fresh, findings, suspects),
    );
    if (suspects.size === 0) return;
    if (round === ROUNDS)
      for (const part of suspects)
        findings.add(
          `${projection.plugin}: ${part} is ${shown(projection.state, part)} in memory, and ${shown(fresh, part)} in the database`,
        );
  }
}

export const memoryMatches = (projections: readonly Projection<object, unknown>[]): Invariant => ({
  name: 'memory is the database',
  fix: 'restart the panel: it reads everything again',
  check: async (findings) => {
    for (const projection of projections)
      if (!('isComparedApart' in projection.state)) await compare(projection, findings);
  },
});
