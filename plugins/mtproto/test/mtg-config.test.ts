// The config file: no value, whatever it holds, begins a line of its own.
import test from 'ava';
import { mtgConfig } from '../mtg-config.js';
import { toml } from '../toml.js';

const place = { ports: { api: 5000 }, secret: 'ab'.repeat(32) };
const EVIL = 'x"\n[secrets]\n"i1.c9" = "ee00"\r\u2028\u007f\\';

test('line breaks, quotes and control characters stay inside their value', (t) => {
  const text = toml({ [EVIL]: EVIL, list: [EVIL, 'b'] }, { [EVIL]: { [EVIL]: EVIL } });
  t.is(text.trimEnd().split('\n').length, 5);
  t.false(/^\[secrets\]/m.test(text));
  t.false(text.includes('\r') || text.includes('\u007f'));
});

test('values of settings that an older panel stored cannot add a secret', (t) => {
  const settings = {
    preferIp: EVIL,
    publicIpv4: EVIL,
    fakeTlsDomain: EVIL,
    domainFronting: { ip: EVIL, port: 443, proxyProtocol: true },
    throttleMaxConnections: 7.9,
    debug: true,
  };
  const text = mtgConfig({ listen: EVIL, port: 443, settings }, place, undefined, undefined);
  t.deepEqual(
    text.split('\n').filter((line) => line.startsWith('[')),
    ['["domain-fronting"]', '["throttle"]', '["secrets"]'],
  );
  const [, secrets = ''] = text.split('["secrets"]\n');
  t.regex(secrets, /^"nobody" = "ee[0-9a-f]+"\n$/);
  t.true(text.includes('"max-connections" = 7\n'));
});

test('what is blank is left out, and addresses of IPv6 get brackets', (t) => {
  const text = mtgConfig(
    { listen: '::1', port: 443, settings: { domainFronting: { ip: '', port: 0 }, preferIp: '' } },
    place,
    [
      {
        inboundId: 1,
        clientId: 2,
        name: 'i1.c2',
        account: { protocol: 'mtproto', secret: 'ee11', adTag: 'zz' },
      },
    ],
    'socks5://a:b@127.0.0.1:1',
  );
  t.true(text.startsWith('"bind-to" = "[::1]:443"\n"api-bind-to" = "127.0.0.1:5000"\n'));
  t.true(text.includes('["network"]\n"proxies" = ["socks5://a:b@127.0.0.1:1"]\n'));
  t.true(text.includes('"i1.c2" = "ee11"\n'));
  t.false(text.includes('ad-tags'));
});
