// Calls routes that a schema names, which the generated client does not know by name.
import { Transport } from '../../../../sdk/transport.js';
import { panelUrl, session } from '../api/panel.js';
import { sentBy } from './generate.js';
import type { Generator, Values } from './schema.js';

class Caller extends Transport {
  generate(generator: Generator, values: Values): Promise<unknown> {
    const { method, path } = generator;
    const sent = sentBy(generator, values);
    return this.call({ method, path, gives: 'obj' }, method === 'GET' ? { query: sent } : { body: sent });
  }
}

export const caller = new Caller({ url: panelUrl.href, fetch: session.fetch });
