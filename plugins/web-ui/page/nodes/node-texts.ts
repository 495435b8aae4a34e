// What is typed about a node as texts by field, to compare it with what somebody else has saved.
import type { TypedNode } from './wanted.js';

export type NodeField = keyof TypedNode;
export type NodeTexts = Readonly<Record<NodeField, string>>;

export const textsOfNode = (typed: TypedNode): NodeTexts => ({
  ...typed,
  allowPrivateAddress: String(typed.allowPrivateAddress),
  // Their order says nothing.
  inboundTags: JSON.stringify([...typed.inboundTags].sort()),
});

export const nodeOfTexts = (texts: NodeTexts): TypedNode => ({
  ...texts,
  tlsVerifyMode: texts.tlsVerifyMode as TypedNode['tlsVerifyMode'],
  inboundSyncMode: texts.inboundSyncMode as TypedNode['inboundSyncMode'],
  allowPrivateAddress: texts.allowPrivateAddress === 'true',
  inboundTags: JSON.parse(texts.inboundTags) as string[],
});
