// A host in front of a real core: another address, port, SNI and path than the inbound's, and a connection by its link.
import test from 'ava';
import { createServer, connect as dial, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { NAME, openSite } from '../../../test/demo/streams.js';
import { freePort } from '../../../test/harness/api.js';
import {
  connect,
  counted,
  engineBinary,
  MIB,
  openPanel,
  openServer,
  within,
} from '../../../test/engine/user.js';

test('bytes come by the link of a host that changes address, port, SNI, path and Host', async (t) => {
  const site = await openSite(engineBinary());
  t.teardown(() => site.stop());
  const server = await openServer(t);
  const panel = await openPanel(t, { env: site.env });
  const port = await freePort();
  const stream = site.streams.get('ws tls') as Record<string, Record<string, unknown>>;
  const inbound = await panel.addInbound({
    remark: 'n',
    port,
    settings: { decryption: 'none' },
    streamSettings: {
      ...stream,
      // The link of the inbound itself would find nothing: its path is not the one that the host says.
      wsSettings: { path: '/real', host: 'edge.example' },
      tlsSettings: { ...stream['tlsSettings'], serverName: 'wrong.example' },
    },
  });
  await panel.addClient('alice', [inbound]);
  // What a CDN does: it listens elsewhere and passes everything on.
  const passed: string[] = [];
  const relay = createServer((socket) => {
    passed.push('connection');
    const onward = dial(port, '127.0.0.1');
    socket.pipe(onward).pipe(socket);
    for (const end of [socket, onward])
      end.on('error', () => socket.destroy()).on('error', () => onward.destroy());
  }).listen(0, '127.0.0.1');
  t.teardown(() => relay.close());
  await once(relay, 'listening');
  await panel.get('/panel/api/hosts/add', {
    body: {
      inboundIds: [inbound],
      remark: 'relay',
      hosts: [`localhost:${(relay.address() as AddressInfo).port}`],
      security: 'tls',
      sni: NAME,
      fingerprint: 'firefox',
      path: '/real',
      hostHeader: 'edge.example',
    },
  });
  const user = await connect(t, panel, 'alice', server);
  t.is(await user.download(MIB), MIB);
  t.true(passed.length > 0);
  const down = await counted(panel, 'alice', MIB);
  t.true(within(down, MIB), `${down}`);

  // The same host with another path finds nothing.
  const [{ groupId } = { groupId: '' }] = await panel.get<{ groupId: string }[]>('/panel/api/hosts/list');
  await panel.get(`/panel/api/hosts/update/${groupId}`, { body: { path: '/elsewhere' } });
  t.false(await (await connect(t, panel, 'alice', server)).served());
});
