// Tags and ids in the core's config belong to the plugin that added them first. A second inbound of a tag would replace
// the first one, and a second outbound would get its traffic.
import type { Stamped } from '../../../kernel/index.js';
import { OWN_TAG_PREFIX } from '../../core-guard/contract.js';
import { OWN_OUTBOUNDS } from './base-config.js';
import type { CorePart } from '../contract.js';

/** `madeOf`: what else than itself it is made of, see PartCheck */
export type Part = Stamped<CorePart> & { readonly madeOf?: string };
/** A part whose tag or id is taken, with the reason. */
export interface Clash {
  readonly part: Part;
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

/** Stands between built-in and other parts. */
const OWN: Part = { plugin: ENGINE, entry: { rule: {} } };

/** Returns the parts in their order, without those whose name is taken. Built-in parts come first in any order. */
export function withoutClashes(parts: readonly Part[]): { kept: Part[]; clashing: Clash[] } {
  const inbounds = new OwnedNames();
  const outbounds = new OwnedNames();
  const balancers = new OwnedNames();
  const sections = new OwnedNames();

  const clash = ({ entry, plugin }: Part): string | undefined => {
    if ('rule' in entry || 'nameServer' in entry) return undefined;
    if ('section' in entry) {
      const owner = sections.claim(entry.section, plugin);
      return owner && `its section ${entry.section} is left out: ${owner} adds this section`;
    }
    if ('balancer' in entry) {
      const { tag } = entry.balancer;
      if (typeof tag !== 'string' || tag === '') return 'a balancer without a tag is left out';
      const owner = balancers.claim(`tag ${tag}`, plugin);
      return owner && `its balancer ${tag} is left out: ${owner} has a balancer of this tag; choose another`;
    }
    if ('outbound' in entry) {
      const { tag } = entry.outbound;
      if (typeof tag !== 'string' || tag === '') return 'an outbound without a tag is left out; give it one';
      const owner = outbounds.claim(`tag ${tag}`, plugin);
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
  const builtIn = parts.filter(({ outside }) => !outside);
  for (const part of [...builtIn, OWN, ...parts.filter(({ outside }) => outside)]) {
    // Third-party plugins cannot replace these; a built-in one may have done so.
    if (part === OWN) {
      for (const tag of OWN_OUTBOUNDS) outbounds.claim(`tag ${tag}`, ENGINE);
      continue;
    }
    const reason = clash(part);
    if (reason === undefined) continue;
    const { plugin, outside, entry } = part;
    out.add(part);
    clashing.push({ part, plugin, outside, reason });
    if ('outbound' in entry) orphaned.add(`${plugin} ${String(entry.outbound['tag'])}`);
  }
  const isOrphaned = ({ plugin, entry }: Part): boolean =>
    'rule' in entry && orphaned.has(`${plugin} ${String(entry.rule['outboundTag'])}`);
  return { kept: parts.filter((part) => !out.has(part) && !isOrphaned(part)), clashing };
}
