// A server of lists, whose answer a test changes.
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Teardown } from '../../../test/engine/core-panel.js';

type Answer = string | Buffer | ((request: IncomingMessage, response: ServerResponse) => void);

export interface ListServer {
  readonly url: string;
  readonly port: number;
  answer: Answer;
  /** requests so far */
  readonly requests: IncomingMessage[];
}

export async function openLists(
  t: Teardown,
  answer: Answer = '',
  tls?: { readonly key: string; readonly cert: string },
): Promise<ListServer> {
  const requests: IncomingMessage[] = [];
  const lists = { url: '', port: 0, answer, requests };
  const listener: RequestListener = (request, response) => {
    requests.push(request);
    if (typeof lists.answer === 'function') lists.answer(request, response);
    else response.end(lists.answer);
  };
  const server = tls ? createTlsServer(tls, listener) : createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  lists.port = (server.address() as AddressInfo).port;
  lists.url = `${tls ? 'https' : 'http'}://127.0.0.1:${lists.port}/list?token=secret`;
  return lists;
}
