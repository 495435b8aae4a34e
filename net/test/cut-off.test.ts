// A sender who is gone before anybody reads what it sent.
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { RequestBody } from '../body.js';
import { MultipartBody } from '../multipart.js';

const fails = (kind: string) => (message: string) => new Error(`${kind}: ${message}`);
const errors = {
  INVALID: fails('INVALID'),
  TOO_LARGE: fails('TOO_LARGE'),
  BAD_BODY: fails('BAD_BODY'),
  UNSUPPORTED_BODY: fails('UNSUPPORTED_BODY'),
};

/** A request of which the head has come and a part of the body, and whose sender is gone. */
async function cutOff(t: ExecutionContext, headers: string) {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.write(`POST / HTTP/1.1\r\nHost: x\r\n${headers}\r\nContent-Length: 500\r\n\r\n--b\r\n`);
  const [request, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse];
  request.on('error', () => undefined);
  const closed = new Promise((resolve) => request.once('close', resolve));
  client.destroy();
  await closed;
  return { request, response };
}

test('a form whose sender disconnects before it is read ends and leaves no folder', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'weir-multipart-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const { request, response } = await cutOff(t, 'Content-Type: multipart/form-data; boundary=b');
  const body = new MultipartBody(request, response, {
    files: { any: { maxBytes: 100, most: 1, least: 1 } },
    textBytes: 100,
    limit: 1000,
    folder,
    errors,
  });
  await t.throwsAsync(body.read(), { message: 'BAD_BODY: the body was cut off' });
  await body.remove();
  t.deepEqual(await readdir(folder), []);
});

test('a compressed body whose sender disconnects before it is read ends', async (t) => {
  const { request, response } = await cutOff(t, 'Content-Type: application/json\r\nContent-Encoding: gzip');
  const body = new RequestBody(request, response, { limit: 1000, separators: 100, compressed: true, errors });
  await t.throwsAsync(body.read(), { message: 'BAD_BODY: the body could not be read: it was cut off' });
});
