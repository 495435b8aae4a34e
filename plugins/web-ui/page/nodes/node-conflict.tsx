// Somebody else has saved the node meanwhile: which fields differ.
import { useReader } from '../language/context.js';
import type { MessageKey } from '../language/message-key.js';
import { conflictsOf, merged, onlyTheirs } from '../parts/conflict.js';
import { ConflictBox } from '../parts/conflict-box.js';
import { type NodeField, nodeOfTexts, textsOfNode } from './node-texts.js';
import type { TypedNode } from './wanted.js';

const LABELS: Readonly<Record<NodeField, MessageKey>> = {
  name: 'nodes.field.name',
  place: 'nodes.field.place',
  remark: 'nodes.field.remark',
  tlsVerifyMode: 'nodes.field.tls',
  pinnedCertSha256: 'nodes.field.pin',
  allowPrivateAddress: 'nodes.field.private',
  outboundTag: 'nodes.field.outbound',
  inboundSyncMode: 'nodes.adopt',
  inboundTags: 'nodes.adopt.selected',
};
/** Values that have a text of their own. */
const VALUES: Readonly<Record<string, MessageKey>> = {
  'tlsVerifyMode verify': 'nodes.tls.verify',
  'tlsVerifyMode pin': 'nodes.tls.pin',
  'tlsVerifyMode mtls': 'nodes.tls.mtls',
  'tlsVerifyMode skip': 'nodes.tls.skip',
  'inboundSyncMode all': 'nodes.adopt.all',
  'inboundSyncMode selected': 'nodes.adopt.selected',
  'allowPrivateAddress true': 'nodes.yes',
  'allowPrivateAddress false': 'nodes.no',
};

export interface NodeConflictProps {
  readonly before: TypedNode;
  readonly mine: TypedNode;
  readonly theirs: TypedNode;
  readonly choose: (merged: TypedNode) => void;
}

export function NodeConflict({ before, mine, theirs, choose }: NodeConflictProps) {
  const { say } = useReader();
  const texts = [textsOfNode(before), textsOfNode(mine), textsOfNode(theirs)] as const;
  const shown = (field: NodeField, value: string): string => {
    const key = VALUES[`${field} ${value}`];
    if (key !== undefined) return say(key);
    return field === 'inboundTags' ? (JSON.parse(value) as string[]).join(', ') : value;
  };
  return (
    <ConflictBox
      conflicts={conflictsOf(...texts)}
      kept={onlyTheirs(...texts)}
      label={(field) => say(LABELS[field])}
      shown={shown}
      choose={(chosen) => choose(nodeOfTexts(merged(...texts, chosen)))}
    />
  );
}
