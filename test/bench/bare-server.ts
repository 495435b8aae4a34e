// The ceiling: node:http alone, answering the same bytes every time, headers of the same size included, in the way that Node sends fastest.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What Node adds by itself. */
const OF_NODE = new Set(['date', 'connection', 'keep-alive']);

process.once('message', ({ headers, body }: { headers: [string, string][]; body: string }) => {
  const own = headers.filter(([name]) => !OF_NODE.has(name)).flat();
  const server = createServer((_request, response) => void response.writeHead(200, own).end(body, 'latin1'));
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
});
