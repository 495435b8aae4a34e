// Links of entries, as this tree writes them.
import type { ProxyEntry } from '../../inbounds/contract.js';
import { placeFor } from '../../subscription/address.js';
import { encodeFragment } from '../../subscription/contract.js';
import { compileLink } from '../../sub-links/link.js';

const client = {
  id: 1,
  email: 'user',
  subId: '',
  uuid: '',
  password: '',
  auth: '',
  flow: '',
  security: '',
  adTag: '',
};

export function linkOf(entry: ProxyEntry): string {
  const { name, description = '' } = entry;
  const tail = description && `?serverDescription=${Buffer.from(description).toString('base64')}`;
  const shown = name + tail;
  const fragment = shown === '' ? '' : `#${encodeFragment(shown)}`;
  return compileLink(entry)({ client, ...placeFor(entry)(''), name, fragment });
}
