// The recipes of a first inbound.
import test from 'ava';
import {
  anyPort,
  blankTyped,
  fieldOfIssue,
  isPortTaken,
  publicHost,
  realityBody,
  tlsBody,
  usableOf,
} from '../page/start/recipes.js';

const typed = blankTyped('vpn.example', 20_001);
const certificate = (change: object) =>
  ({
    names: ['*.a.example', 'a.example'],
    state: 'valid',
    certificateFile: '/c',
    keyFile: '/k',
    ...change,
  }) as never;

test('a port is above those that systems use, and one that exists', (t) => {
  t.is(anyPort(0), 20_000);
  t.is(anyPort(0.99999), 31_999);
});

test('the end of a tunnel is not offered as the address of the server', (t) => {
  for (const host of ['127.0.0.1', '127.8.0.1', 'localhost', '[::1]']) t.is(publicHost(host), '', host);
  for (const host of ['vpn.example', '127.example', '192.0.2.1', '[2001:db8::1]'])
    t.is(publicHost(host), host);
});

test('the site of REALITY gets its port, and links get the address', (t) => {
  const body = realityBody({ ...typed, target: ' b.example ', address: ' x ' }, 1, {
    privateKey: 'p',
    publicKey: 'q',
    shortIds: ['ab'],
    spiderX: '/',
  }) as unknown as { shareAddr: string; streamSettings: { realitySettings: Record<string, unknown> } };
  t.is(body.shareAddr, 'x');
  t.is(body.streamSettings.realitySettings['target'], 'b.example:443');
  t.deepEqual(body.streamSettings.realitySettings['serverNames'], ['b.example']);
});

test('TLS takes a certificate that is good, and a name without a star', (t) => {
  t.is(usableOf([certificate({ state: 'expired' }), certificate({ certificateFile: '' })]), undefined);
  const nameOf = (names: string[]) =>
    (
      tlsBody(typed, 1, certificate({ names })) as unknown as {
        streamSettings: { tlsSettings: { serverName: string } };
      }
    ).streamSettings.tlsSettings.serverName;
  t.is(nameOf(['*.a.example', 'a.example']), 'a.example');
  t.is(nameOf(['*.a.example']), 'vpn.example');
});

test('what the panel refuses is said at its field', (t) => {
  t.is(fieldOfIssue('shareAddr'), 'address');
  t.is(fieldOfIssue('port'), 'port');
  t.is(fieldOfIssue('streamSettings.realitySettings.target'), 'target');
  t.is(fieldOfIssue('streamSettings.realitySettings.serverNames.0'), 'target');
  t.is(fieldOfIssue('settings.x'), undefined);
  t.true(isPortTaken('INBOUNDS_PORT_IN_USE'));
  t.false(isPortTaken('INBOUNDS_TAG_TAKEN'));
});
