// The right of a VLESS user to open a reverse tunnel: its program becomes the outbound `tag` of the core.
// Xray-core 26.3.27, proxy/vless/account.proto: field 7 of an account is a message with the tag in field 1. The core
// refuses `sniffing` in it on this side, so only the tag is given to it.
import type { AccountField } from '../../engine/contract.js';
import type { ClientIdentity } from '../contract.js';
import { textOf } from '../stream/transport.js';

/** Wire type 2 of field 1. */
const TAG_KEY = 0x0a;

/** Returns the message in base64, as an account has it; empty without the right. */
export function reverseBytes({ reverse }: Pick<ClientIdentity, 'reverse'>): string {
  const tag = Buffer.from(textOf(reverse?.['tag']));
  if (tag.length === 0) return '';
  // The length is a varint: seven bits in each byte.
  const length = tag.length < 0x80 ? [tag.length] : [(tag.length & 0x7f) | 0x80, tag.length >> 7];
  return Buffer.concat([Buffer.from([TAG_KEY, ...length]), tag]).toString('base64');
}

function tagIn(base64: string): string {
  const bytes = Buffer.from(base64, 'base64');
  return bytes.toString('utf8', (bytes[1] ?? 0) < 0x80 ? 2 : 3);
}

export const reverseField: AccountField & { readonly number: number } = {
  number: 7,
  type: 'bytes',
  mayMiss: true,
  toJson: (value) => (typeof value === 'string' && value !== '' ? { tag: tagIn(value) } : undefined),
};
