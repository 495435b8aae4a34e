// What environment and config file say of the panel's listener, and when passwords travel unencrypted.
import test from 'ava';
import type { PanelListenerApi } from '../contract.js';
import { ofPanel, warnOfPlainHttp } from '../panel-listener.js';

type Source = PanelListenerApi['certificateSource'];

const listener = (host: string, source: Source, certificate = ''): PanelListenerApi =>
  ({
    host: { value: host, source },
    port: { value: 2053, source },
    trustedProxies: { value: ['10.0.0.0/8', '::1'], source },
    certificateFiles: { certificate, key: certificate },
  }) as unknown as PanelListenerApi;

test('what the environment says is pinned, what the config file says is a default, and anything else is neither', (t) => {
  const values = { webListen: '192.0.2.1', webPort: 2053, trustedProxyCIDRs: '10.0.0.0/8,::1' };
  t.deepEqual(ofPanel(listener('192.0.2.1', 'file')), { pinned: {}, defaults: values });
  t.is(ofPanel(listener('0.0.0.0', 'file')).defaults.webListen, '', 'all addresses');
  t.deepEqual(ofPanel(listener('0.0.0.0', 'environment')), {
    pinned: {
      webListen: { value: '', variable: 'WEIR_HOST' },
      webPort: { value: 2053, variable: 'WEIR_PANEL_PORT' },
      trustedProxyCIDRs: { value: '10.0.0.0/8,::1', variable: 'WEIR_TRUSTED_PROXIES' },
    },
    defaults: {},
  });
  const nothing = { pinned: {}, defaults: {} };
  t.deepEqual(ofPanel(listener('127.0.0.1', 'default')), nothing);
  t.deepEqual(ofPanel(undefined), nothing);
});

test('the log warns of an address without encryption, once', (t) => {
  const warned = (panelListener: PanelListenerApi | undefined, host: string): number => {
    const said: string[] = [];
    const log = { warn: (text: string) => said.push(text) };
    warnOfPlainHttp({ panelListener, log } as unknown as Parameters<typeof warnOfPlainHttp>[0], host);
    return said.length;
  };
  const local = listener('127.0.0.1', 'default');
  t.is(warned(local, '0.0.0.0'), 1);
  for (const host of ['127.0.0.1', '127.0.0.2', '::1', 'localhost']) t.is(warned(local, host), 0, host);
  t.is(warned(listener('192.0.2.1', 'environment'), '192.0.2.1'), 0, 'the program has warned');
  t.is(warned(listener('127.0.0.1', 'default', '/etc/c.pem'), '0.0.0.0'), 0, 'it serves HTTPS');
  t.is(warned(undefined, '0.0.0.0'), 0, 'another program serves the pages');
});
