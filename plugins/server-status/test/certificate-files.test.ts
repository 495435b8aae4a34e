// Where the certificate of the panel lies, and whether a program beside the core runs.
import test from 'ava';
import { FakeEngine, TestPanel } from '../../../test/harness/index.js';
import plugin from '../index.js';
import { StatusReport } from '../status.js';

test('the paths of certificate and key are those of the panel, and blank without HTTPS', async (t) => {
  const answer = (listener: object | undefined): unknown =>
    plugin
      .routes({ listener } as never)
      .find(({ name }) => name === 'server.getWebCertFiles')
      ?.handle({} as never);
  const certificateFiles = { certificate: '/etc/one.pem', key: '/etc/one.key' };
  t.deepEqual(answer({ certificateFiles }), { webCertFile: '/etc/one.pem', webKeyFile: '/etc/one.key' });
  t.deepEqual(answer(undefined), { webCertFile: '', webKeyFile: '' });
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin] });
  t.deepEqual(await panel.get('/panel/api/server/getWebCertFiles'), { webCertFile: '', webKeyFile: '' });
});

test('amneziawg runs when one of its programs serves', async (t) => {
  const running = async (states: readonly string[]) => {
    const report = new StatusReport({
      machine: { status: async () => ({}) },
      engine: { status: () => ({ startedAt: 0 }) },
      inbounds: { list: () => [{ enable: true, protocol: 'amneziawg' }] },
      sidecars: {
        instances: (protocol: string) =>
          protocol === 'amneziawg' ? states.map((state) => ({ state })) : [{ state: 'running' }],
      },
      identity: { guid: '' },
      clock: { now: () => 0 },
    } as never);
    return (await report.status()).amneziawg;
  };
  t.deepEqual(await running(['not running: no right', 'running']), { configured: true, running: true });
  t.deepEqual(await running(['not running: no right']), { configured: true, running: false });
});
