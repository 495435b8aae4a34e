import test from 'ava';
import { runsOverUdp } from '../udp.js';

const over = (streamSettings: Record<string, unknown>, protocol = 'vless'): boolean =>
  runsOverUdp({ protocol, streamSettings });

test('connections over TCP can be closed one by one', (t) => {
  for (const network of [undefined, 'tcp', 'raw', 'ws', 'httpupgrade', 'grpc', 'xhttp', 'splithttp'])
    t.false(over(network === undefined ? {} : { network }), network);
  t.false(over({ network: 'xhttp', security: 'tls', tlsSettings: { alpn: ['h2', 'http/1.1'] } }));
  t.false(over({ network: 'xhttp', security: 'reality' }));
  t.false(
    over({ network: 'tcp', security: 'tls', tlsSettings: { alpn: ['h3'] } }),
    'that a transport cannot do',
  );
});

test('those over UDP cannot', (t) => {
  t.true(over({ network: 'kcp' }));
  t.true(over({ network: 'hysteria' }));
  t.true(over({ network: 'xhttp', security: 'tls', tlsSettings: { alpn: ['h3'] } }));
  t.true(over({}, 'wireguard'));
  t.true(over({}, 'hysteria'));
});
