// What is typed about a node, and the body that it becomes.
import type { NodesAddInput } from '../../../../sdk/index.js';
import { placeOfTyped, typedPlace } from './place.js';
import type { PanelNode } from './tree.js';

export interface TypedNode {
  readonly name: string;
  readonly place: string;
  readonly remark: string;
  readonly tlsVerifyMode: PanelNode['tlsVerifyMode'];
  readonly pinnedCertSha256: string;
  readonly allowPrivateAddress: boolean;
  readonly outboundTag: string;
  readonly inboundSyncMode: PanelNode['inboundSyncMode'];
  readonly inboundTags: readonly string[];
}

export type NodeBody = NonNullable<NodesAddInput['body']>;

export const BLANK_NODE: TypedNode = {
  name: '',
  place: '',
  remark: '',
  tlsVerifyMode: 'verify',
  pinnedCertSha256: '',
  allowPrivateAddress: false,
  outboundTag: '',
  inboundSyncMode: 'all',
  inboundTags: [],
};

export const typedOf = (node: PanelNode): TypedNode => ({
  name: node.name,
  place: typedPlace(node),
  remark: node.remark,
  tlsVerifyMode: node.tlsVerifyMode,
  pinnedCertSha256: node.pinnedCertSha256,
  allowPrivateAddress: node.allowPrivateAddress,
  outboundTag: node.outboundTag,
  inboundSyncMode: node.inboundSyncMode,
  inboundTags: node.inboundTags,
});

/** Undefined while the address is none. A blank token is not sent: what is stored stays. */
export function bodyOf(typed: TypedNode, token: string): NodeBody | undefined {
  const place = placeOfTyped(typed.place);
  if (!place) return undefined;
  const { place: _, inboundTags, ...fields } = typed;
  return {
    ...fields,
    ...place,
    inboundTags: [...inboundTags],
    name: typed.name.trim(),
    ...(token.trim() !== '' && { apiToken: token.trim() }),
  };
}

/** The field of the form that shows what the panel says of a field of the body. */
export function fieldOfIssue(path: string): 'name' | 'place' | 'token' | 'pin' | undefined {
  const name = path.split(/[.[]/).at(-1) ?? '';
  if (name === 'name') return 'name';
  if (['scheme', 'address', 'port', 'basePath'].includes(name)) return 'place';
  if (name === 'apiToken') return 'token';
  return name === 'pinnedCertSha256' ? 'pin' : undefined;
}
