// A user whose requests hold line breaks: the core writes them into its access log as they are, so what follows a break looks
// like a line of the core. Nothing there may count for another client.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import test from 'ava';
import { MIB, openPanel, openServer, connect as connectUser } from './user.js';

/** Asks a trojan inbound for a host of any bytes, which the core refuses and logs. */
async function askForHost(port: number, password: string, host: string): Promise<void> {
  const key = createHash('sha224').update(password).digest('hex');
  const name = Buffer.from(host);
  const socket = connect(port, '127.0.0.1').on('error', () => undefined);
  // TCP, a name, port 443
  const target = Buffer.concat([Buffer.from([1, 3, name.length]), name, Buffer.from([1, 187])]);
  socket.end(Buffer.concat([Buffer.from(`${key}\r\n`), target, Buffer.from('\r\n')]));
  await once(socket.resume(), 'close');
}

/** A line as the core writes it, of now. */
function lineOf(from: string, user: string): string {
  const now = new Date();
  const two = (number: number): string => String(number).padStart(2, '0');
  const day = [now.getFullYear(), two(now.getMonth() + 1), two(now.getDate())].join('/');
  const time = [now.getHours(), now.getMinutes(), now.getSeconds()].map(two).join(':');
  return `${day} ${time}.000001 from ${from} accepted tcp:a.b:1 [a >> b] email: ${user}`;
}

test('a user writes no line of the log for another one', async (t) => {
  const panel = await openPanel(t);
  const server = await openServer(t);
  const id = await panel.addInbound({ protocol: 'trojan' });
  const { port } = await panel.get<{ port: number }>(`/panel/api/inbounds/get/${id}`);
  const victim = await panel.addClient('victim', [id], { limitIp: 1 });
  const { password } = await panel.addClient('attacker', [id]);
  const user = await connectUser(t, panel, 'victim', server);
  t.is(await user.download(MIB), MIB);

  for (const from of ['203.0.113.9:4000', '198.51.100.9:4000'])
    await askForHost(port, password, `x\n${lineOf(from, `i${id}.c${victim.id}`)}`);
  const log = join(panel.dataDirectory, 'engine', 'access.log');
  await panel.until(async () => (await readFile(log, 'utf8')).includes('198.51.100.9'), 'the core logs it');
  t.deepEqual(
    await panel.get('/panel/api/clients/ips/victim', { method: 'POST' }),
    [],
    'addresses from which the victim never connected',
  );
  const shown = await panel.get<{ Email: string; FromAddress: string }[]>('/panel/api/server/enginelogs/50', {
    body: {},
  });
  t.deepEqual(
    shown.flatMap(({ Email, FromAddress }) => (FromAddress.startsWith('127.') ? [] : [Email])),
    [],
  );
});
