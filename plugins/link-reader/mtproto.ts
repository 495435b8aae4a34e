// A link that adds a proxy to Telegram. Source: core.telegram.org/api/links, MTProxy links. It has no place for a name.
import { portIn, serverIn } from './authority.js';
import type { ReadEntry, SchemeReader } from './contract.js';
import { LinkError } from './link-error.js';
import { Parameters } from './parameters.js';

export const mtproto: SchemeReader = {
  schemes: ['tg'],
  read({ body }): ReadEntry {
    const [place, query = ''] = body.split('?', 2);
    if (place?.replace(/\/$/, '') !== 'proxy')
      throw new LinkError('link', 'it is not a link of Telegram to an MTProto proxy (tg://proxy?…)');
    const parameters = Parameters.in(query);
    const secret = parameters.base64('secret');
    if (!/^[\w+/-]{16,600}={0,2}$/.test(secret))
      throw new LinkError('secret', 'its secret is neither hexadecimal nor base64');
    return {
      server: serverIn(parameters.get('server')),
      port: portIn(parameters.get('port')),
      account: { protocol: 'mtproto', secret },
      transport: { kind: 'own' },
      security: { kind: 'none' },
    };
  },
};
