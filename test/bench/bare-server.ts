// The ceiling: node:http alone, answering the same bytes every time, headers of the same size included, in the way that Node sends fastest.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface BareAnswer {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}
/** What Node adds by itself. */
const OF_NODE = new Set(['date', 'connection', 'keep-alive']);

process.once('message', ({ status, headers, body }: BareAnswer) => {
  const own = headers.filter(([name]) => !OF_NODE.has(name)).flat();
  const encoding = Buffer.byteLength(body) === body.length ? 'latin1' : 'utf8';
  const server = createServer((_request, response) => {
    response.writeHead(status, own);
    if (body === '') response.end();
    else response.end(body, encoding);
  });
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
});
