// Tags and ids in the core's config belong to the plugin that added them first. A second inbound of a tag would replace
// the first one, and a second outbound would get its traffic.
import type { Stamped } from '../../kernel/index.js';
import { OWN_TAG_PREFIX } from '../core-guard/contract.js';
import { OWN_OUTBOUNDS } from './base-config.js';
import type { CorePart } from './contract.js';

export type Part = Stamped<CorePart>;
/** A part whose tag or id is taken, with the reason. */
export interface Clash {
  readonly plugin: string;
  readonly outside: boolean | undefined;
  readonly reason: string;
}

const ENGINE = 'engine';

/** Names with their owners; a claim returns the present owner, if any. */
class OwnedNames {
  readonly #owners = new Map<string, string>();
  claim(name: string, plugin: string): string | undefined {
    const owner = name.startsWith(`tag ${OWN_TAG_PREFIX}`) ? ENGINE : this.#owners.get(name);
    if (owner === undefined) this.#owners.set(name, plugin);
    return owner;
  }
}

/** Returns the parts in their order, without those whose name is taken. Built-in parts come first in any order. */
export function withoutClashes(parts: readonly Part[]): { kept: Part[]; clashing: Clash[] } {
  const inbounds = new OwnedNames();
  const outbounds = new OwnedNames();
  for (const tag of OWN_OUTBOUNDS) outbounds.claim(`tag ${tag}`, ENGINE);

  const clash = ({ entry, plugin }: Part): string | undefined => {
    if ('rule' in entry || 'nameServer' in entry) return undefined;
    if ('outbound' in entry) {
      const { tag } = entry.outbound;
      const owner = typeof tag === 'string' && tag !== '' ? outbounds.claim(`tag ${tag}`, plugin) : undefined;
      return (
        owner &&
        `its outbound ${String(tag)} is left out: ${owner} has an outbound of this tag; choose another`
      );
    }
    const { tag, id } = entry.inbound;
    const owner = inbounds.claim(`tag ${tag}`, plugin);
    if (owner) return `its inbound ${tag} is left out: ${owner} has an inbound of this tag; choose another`;
    const other = inbounds.claim(`id ${id}`, plugin);
    return (
      other && `its inbound ${tag} is left out: ${other} has an inbound with the id ${id}; choose another`
    );
  };
  const clashing: Clash[] = [];
  const out = new Set<Part>();
  /** Rules for an outbound that is left out would send its traffic to another plugin's outbound. */
  const orphaned = new Set<string>();
  for (const part of [
    ...parts.filter(({ outside }) => !outside),
    ...parts.filter(({ outside }) => outside),
  ]) {
    const reason = clash(part);
    if (reason === undefined) continue;
    const { plugin, outside, entry } = part;
    out.add(part);
    clashing.push({ plugin, outside, reason });
    if ('outbound' in entry) orphaned.add(`${plugin} ${String(entry.outbound['tag'])}`);
  }
  const isOrphaned = ({ plugin, entry }: Part): boolean =>
    'rule' in entry && orphaned.has(`${plugin} ${String(entry.rule['outboundTag'])}`);
  return { kept: parts.filter((part) => !out.has(part) && !isOrphaned(part)), clashing };
}
