// A node as it is stored, as code of this plugin calls it, and the checks across its fields.
import { type Issue, hostName, kernelErrors, type Row } from '../../kernel/index.js';
import { digestOfPin } from './calls/pin.js';
import { errors } from './errors.js';
import type { tables } from './tables.js';

export type NodeRow = Row<typeof tables.nodes>;
/** What an admin sets; the token as its plain text. */
export type NodeFields = Omit<NodeRow, 'id' | 'createdAt' | 'updatedAt'>;
/** Where and how a panel is called; `id` is 0 for a node that is not stored. */
export type NodeTarget = Pick<
  NodeRow,
  | 'id'
  | 'scheme'
  | 'address'
  | 'port'
  | 'basePath'
  | 'apiToken'
  | 'allowPrivateAddress'
  | 'outboundTag'
  | 'tlsVerifyMode'
  | 'pinnedCertSha256'
>;

/** As sent: what is left out stays as it is. */
export type SentNode = { readonly [K in keyof NodeFields]?: NodeFields[K] | undefined } & {
  readonly clearApiToken?: boolean | undefined;
};

export const NEW_NODE: NodeFields = {
  name: '',
  remark: '',
  scheme: 'https',
  address: '',
  port: 2053,
  basePath: '/',
  apiToken: '',
  enable: true,
  allowPrivateAddress: false,
  inboundSyncMode: 'all',
  inboundTags: [],
  outboundTag: '',
  tlsVerifyMode: 'verify',
  pinnedCertSha256: '',
};

const refuse = (path: string, why: string): never => {
  const issues: Issue[] = [{ path, message: `${path}: ${why}` }];
  throw kernelErrors.INVALID(`${path}: ${why}`, { issues });
};

/** An address without brackets, or a name in its usual form. */
function addressOf(sent: string): string {
  const text = sent.trim();
  const bare = text.replace(/^\[(.*)\]$/, '$1');
  const host = bare === '' || /[\s/@?#%]/.test(bare) ? undefined : hostName(bare);
  return host ?? refuse('address', 'it must be a host name or an address, without scheme, port and path');
}

function basePathOf(sent: string): string {
  const path = `/${sent.trim()}/`.replaceAll(/\/{2,}/g, '/');
  return path.length <= 255 && /^\/(?:[A-Za-z0-9_~-][A-Za-z0-9._~-]*\/)*$/.test(path)
    ? path
    : refuse('basePath', 'its segments may have letters, digits and - _ . ~');
}

/** Throws an error that names the field. */
export function withSent(before: NodeFields, sent: SentNode): NodeFields {
  const { clearApiToken = false, ...rest } = sent;
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  const node = { ...before, ...(given as Partial<NodeFields>) };
  if (clearApiToken && (sent.apiToken ?? '') !== '')
    refuse('clearApiToken', 'it cannot be sent together with a new apiToken');
  node.apiToken = clearApiToken ? '' : sent.apiToken?.trim() || before.apiToken;
  if (!/^[\x21-\x7e]*$/.test(node.apiToken)) refuse('apiToken', 'it may have visible ASCII characters only');
  node.name = node.name.trim();
  if (node.name === '') refuse('name', 'it is required');
  node.address = addressOf(node.address);
  node.basePath = basePathOf(node.basePath);
  const { scheme, tlsVerifyMode } = node;
  if (node.pinnedCertSha256 !== '') {
    const digest = digestOfPin(node.pinnedCertSha256);
    if (!digest) refuse('pinnedCertSha256', 'it must be a SHA-256, in base64 or hex');
    node.pinnedCertSha256 = (digest as Buffer).toString('base64');
  }
  if (scheme === 'http' && (tlsVerifyMode === 'pin' || tlsVerifyMode === 'mtls'))
    refuse('tlsVerifyMode', `${tlsVerifyMode} needs the scheme https`);
  if (tlsVerifyMode === 'pin' && node.pinnedCertSha256 === '')
    refuse('pinnedCertSha256', 'the mode pin needs it; nodes/certFingerprint reads it from the node');
  if (node.enable && node.apiToken === '' && tlsVerifyMode !== 'mtls')
    throw errors.NO_TOKEN(undefined, { path: 'apiToken' });
  return node;
}
