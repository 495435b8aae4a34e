// Tags of inbounds in the core's config: chosen by a caller, or made of port and protocol.
import type { L4 } from './contract.js';
import { errors } from './errors.js';
import type { Inbound } from './fields.js';
import { l4Name } from './ports/listening.js';

const MOST = 99;
const plainTag = ({ port, l4, nodeId }: Tagged): string =>
  `${nodeId === null ? '' : `n${nodeId}-`}in-${port}-${l4Name(l4)}`;

function isGenerated(inbound: Tagged): boolean {
  const { tag } = inbound;
  const plain = plainTag(inbound);
  return tag === plain || (tag.startsWith(`${plain}-`) && /^[1-9]\d?$/.test(tag.slice(plain.length + 1)));
}

interface Tagged extends Pick<Inbound, 'tag' | 'port' | 'nodeId'> {
  readonly l4: readonly L4[];
}

/** Returns the tag that was sent, or a generated one. A generated tag changes with port, protocol and node. Throws TAG_TAKEN when none is free. */
export function tagFor(
  wanted: Tagged,
  before: Tagged | undefined,
  isTaken: (tag: string) => boolean,
): string {
  const plain = plainTag(wanted);
  const moved =
    before !== undefined && wanted.tag === before.tag && isGenerated(before) && plain !== plainTag(before);
  if (wanted.tag !== '' && !moved) return wanted.tag;
  for (let i = 1; i <= MOST; i++) {
    const tag = i === 1 ? plain : `${plain}-${i}`;
    if (!isTaken(tag)) return tag;
  }
  throw errors.TAG_TAKEN(`the tags ${plain} to ${plain}-${MOST} are taken; choose one`, { path: 'tag' });
}
