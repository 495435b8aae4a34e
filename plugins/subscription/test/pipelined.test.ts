// Requests that are sent without waiting for replies: a few are answered, thousands close their connection.
import { once } from 'node:events';
import { connect } from 'node:net';
import test from 'ava';
import { FakeEngine, TestPanel } from '../../../test/harness/index.js';
import { MOST_IN_ONE_TURN } from '../pipelined.js';

/** Sends requests in one piece; resolves with the number of replies when as many have come, or when the connection is closed. */
async function repliesTo(url: string, path: string, count: number): Promise<number> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  socket.write(`GET ${path} HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`.repeat(count));
  let text = '';
  try {
    for await (const piece of socket) {
      text += String(piece);
      if (text.split('HTTP/1.1 ').length > count) break;
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error;
  }
  socket.destroy();
  return text.split('HTTP/1.1 ').length - 1;
}

test('a few requests at once are answered, thousands in one piece are not', async (t) => {
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin] });
  await panel.addClient('ann', [await panel.addInbound()], { subId: 'ann' });
  const url = panel.subscriptionUrl;
  await panel.call('/panel/api/setting/update', { body: { subPath: '/s/' } });
  const path = '/s/ann';
  t.is((await fetch(`${url}${path}`)).status, 200);
  t.is(await repliesTo(url, path, MOST_IN_ONE_TURN), MOST_IN_ONE_TURN);
  for (const tooOften of [path, '/x'])
    t.true((await repliesTo(url, tooOften, 1500)) <= MOST_IN_ONE_TURN, tooOften);
  t.is((await fetch(`${url}${path}`)).status, 200, 'others are served');
  // One after another, a connection may send as many as it likes.
  for (let i = 0; i < 2 * MOST_IN_ONE_TURN; i++) t.is((await fetch(`${url}${path}`)).status, 200);
});
