// The control socket of a program that may hang, lie, or write without end.
import test, { type ExecutionContext } from 'ava';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ControlRefusal, ControlSocket } from '../control-socket.js';
import { readDevice } from '../device-state.js';

/** A program that answers each request so. */
async function program(t: ExecutionContext, answer: (socket: Socket, request: string) => void) {
  const folder = await mkdtemp(join(tmpdir(), 'weir-awg-'));
  const sockets = new Set<Socket>();
  const requests: string[] = [];
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      if (!text.endsWith('\n\n')) return;
      requests.push(text);
      answer(socket, text);
      text = '';
    });
  });
  const path = join(folder, 'awg1.sock');
  server.listen(path);
  await once(server, 'listening');
  t.teardown(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await rm(folder, { recursive: true });
  });
  return { control: new ControlSocket(path, 500), requests, path };
}
const KEY = 'ab'.repeat(32);

test.serial('reads settings and peers, in whatever pieces they come', async (t) => {
  const reply = [
    'private_key=00',
    'listen_port=51820',
    `public_key=${KEY}`,
    `preshared_key=${'0'.repeat(64)}`,
    'protocol_version=1',
    'endpoint=[2001:db8::1]:99',
    'last_handshake_time_sec=1795434859',
    'last_handshake_time_nsec=554000000',
    'tx_bytes=1590',
    'rx_bytes=92',
    'persistent_keepalive_interval=25',
    'allowed_ip=10.8.1.2/32',
    'allowed_ip=fd00::2/128',
    'future_key=1',
    'errno=0',
    '',
    '',
  ].join('\n');
  for (const size of [1, 7, 1000]) {
    const { control } = await program(t, (socket) => {
      for (let i = 0; i < reply.length; i += size) socket.write(reply.slice(i, i + size));
    });
    const { settings, peers } = await readDevice(control);
    t.is(settings.get('listen_port'), '51820');
    t.deepEqual(
      [...peers.values()],
      [
        {
          publicKey: KEY,
          preSharedKey: '',
          endpoint: '[2001:db8::1]:99',
          handshake: 1_795_434_859_554,
          received: 92,
          sent: 1590,
          keepAlive: 25,
          allowedIPs: ['10.8.1.2/32', 'fd00::2/128'],
        },
      ],
    );
  }
});

test.serial('a program that hangs, or goes away, is reported in time', async (t) => {
  const silent = await program(t, () => {});
  await t.throwsAsync(readDevice(silent.control), { message: /does not answer within 0.5 s/ });
  const half = await program(t, (socket) => void socket.end(`public_key=${KEY}\n`));
  await t.throwsAsync(readDevice(half.control), { message: /closed its control socket/ });
  await t.throwsAsync(readDevice(new ControlSocket('/nonexistent/awg1.sock')), {
    message: /cannot be reached/,
  });
});

test.serial('a reply without end is cut', async (t) => {
  const block = `x=${'1'.repeat(1000)}\n`.repeat(64);
  const pour = (text: string) => (socket: Socket) => {
    const more = (): void => {
      while (!socket.destroyed && socket.write(text));
      if (!socket.destroyed) socket.once('drain', more);
    };
    more();
  };
  const endless = await program(t, pour(block));
  await t.throwsAsync(readDevice(new ControlSocket(endless.path, 20_000)), { message: /too long/ });
  const line = await program(t, pour('x'.repeat(16_384)));
  await t.throwsAsync(readDevice(line.control), { message: /a line of amneziawg-go is too long/ });
});

test.serial('what cannot be true is refused', async (t) => {
  const lies = [
    'rx_bytes=-1',
    'tx_bytes=1e30',
    'rx_bytes=99999999999999999999',
    'tx_bytes=',
    'rx_bytes=0x10',
    'last_handshake_time_sec=now',
    'persistent_keepalive_interval=NaN',
    'public_key=abc',
    'nothing',
    '=1',
  ];
  for (const lie of lies) {
    const { control } = await program(
      t,
      (socket) => void socket.write(`public_key=${KEY}\n${lie}\nerrno=0\n\n`),
    );
    await t.throwsAsync(readDevice(control), { message: /amneziawg-go (reports|writes)/ }, lie);
  }
});

test.serial('one operation has all lines; a refusal has its number', async (t) => {
  const { control, requests } = await program(t, (socket, request) =>
    socket.write(request.includes('bad') ? 'errno=-22\n\n' : 'errno=0\n\n'),
  );
  await control.set(['jc=4', `public_key=${KEY}`, 'remove=true']);
  t.deepEqual(requests, [`set=1\njc=4\npublic_key=${KEY}\nremove=true\n\n`]);
  await control.set([]);
  t.is(requests.length, 1, 'nothing to say');
  const refused = await t.throwsAsync<ControlRefusal>(control.set(['bad=1']), { instanceOf: ControlRefusal });
  t.is(refused?.errno, -22);
});

test.serial('a value cannot add a line', async (t) => {
  const { control, requests } = await program(t, (socket) => void socket.write('errno=0\n\n'));
  for (const value of ['1\nreplace_peers=true', '1\r', 'a\0b', '\n', 'ü', '1\u2028'])
    await t.throwsAsync(control.set([`i1=${value}`]), { message: /not text of one line/ });
  await t.throwsAsync(control.set(['replace_peers=true\n']), { message: /not text of one line/ });
  t.deepEqual(requests, []);
});
