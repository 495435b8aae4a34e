// Links of WireGuard and AmneziaWG, byte by byte.
import test from 'ava';
import type { EntryTemplate } from '../../inbounds/contract.js';
import { compileLink } from '../link.js';

const client = {
  id: 1,
  email: 'u',
  subId: '',
  uuid: '',
  password: '',
  auth: '',
  flow: '',
  security: 'auto',
  adTag: '',
};
const base = {
  server: '203.0.113.7',
  port: 51_820,
  transport: { kind: 'own' },
  security: { kind: 'none' },
} as const;
const link = (account: EntryTemplate['account'], authority: string, name: string): string =>
  compileLink({ ...base, account })({ client, server: '', authority, name, fragment: `#${name}` });

const WIREGUARD = {
  protocol: 'wireguard',
  privateKey: '@eeogWsVSXl4epsfwlZkLiC91IMb0GXWXo=',
  publicKey: 'Piehk2n8UewhMHMyJiBS+Sxn/OK0FalyFW1GAGzokHM=',
  address: ['10.0.0.2/32', 'fd00::2/128'],
  preSharedKey: 'psk=',
  keepAlive: 25,
  mtu: 1420,
  dns: '1.1.1.1, 8.8.8.8',
};

test('wireguard: every parameter, and none that is empty', (t) => {
  t.is(
    link(WIREGUARD, 'wg.example.test:51820', 'wg-user'),
    'wireguard://%40eeogWsVSXl4epsfwlZkLiC91IMb0GXWXo%3D@wg.example.test:51820?address=10.0.0.2%2F32%2Cfd00%3A%3A2%2F128&dns=1.1.1.1%2C+8.8.8.8&keepalive=25&mtu=1420&presharedkey=psk%3D&publickey=Piehk2n8UewhMHMyJiBS%2BSxn%2FOK0FalyFW1GAGzokHM%3D#wg-user',
  );
  t.is(
    link(
      { ...WIREGUARD, preSharedKey: '', keepAlive: 0, mtu: 0, dns: '', address: ['10.0.0.2/32'] },
      'h:1',
      'n',
    ),
    'wireguard://%40eeogWsVSXl4epsfwlZkLiC91IMb0GXWXo%3D@h:1?address=10.0.0.2%2F32&publickey=Piehk2n8UewhMHMyJiBS%2BSxn%2FOK0FalyFW1GAGzokHM%3D#n',
  );
  t.is(link({ ...WIREGUARD, privateKey: () => '' }, 'h:1', 'n'), '', 'only the client knows its key');
});

const AMNEZIA = {
  protocol: 'amneziawg',
  privateKey: 'cPriv=',
  publicKey: 'sPub=',
  address: ['10.8.1.2/32'],
  preSharedKey: '',
  keepAlive: 25,
  mtu: 1420,
  dns: '8.8.8.8',
  ...{ jc: 4, jmin: 40, jmax: 100, s1: 30, s2: 90 },
};

test('amneziawg: the file that AmneziaVPN imports', (t) => {
  t.is(
    link(AMNEZIA, '203.0.113.7:51820', 'awg-user'),
    'vpn://W0ludGVyZmFjZV0KUHJpdmF0ZUtleSA9IGNQcml2PQpBZGRyZXNzID0gMTAuOC4xLjIvMzIKRE5TID0gOC44LjguOApNVFUgPSAxNDIwCkpjID0gNApKbWluID0gNDAKSm1heCA9IDEwMApTMSA9IDMwClMyID0gOTAKSDEgPSAxCkgyID0gMgpIMyA9IDMKSDQgPSA0CgojIGF3Zy11c2VyCltQZWVyXQpQdWJsaWNLZXkgPSBzUHViPQpBbGxvd2VkSVBzID0gMC4wLjAuMC8wLCA6Oi8wCkVuZHBvaW50ID0gMjAzLjAuMTEzLjc6NTE4MjAKUGVyc2lzdGVudEtlZXBhbGl2ZSA9IDI1',
  );
  t.is(link({ ...AMNEZIA, dns: '8.8.8.8\nPostUp = rm' }, 'h:1', 'n'), '', 'a value cannot add a line');
  const disguised = Buffer.from(
    link(
      {
        ...AMNEZIA,
        preSharedKey: 'psk=',
        s3: 20,
        s4: 0,
        h1: '5-2000',
        i1: '<r 40>',
        headerProtectionKey: 'hpk=',
        contentPaddingAddition: '0-9',
        rekeyAfterTime: '100-110',
        rekeyTimeout: 5,
        rejectAfterTime: 180,
        keepaliveTimeout: 10,
        maxHandshakeAttempts: 18,
        randomTrailers: true,
        disableCookies: true,
      },
      'h:1',
      'n',
    ).slice('vpn://'.length),
    'base64url',
  ).toString();
  for (const line of [
    'S3 = 20',
    'H1 = 5-2000',
    'I1 = <r 40>',
    'HeaderProtectionKey = hpk=',
    'ContentPaddingAddition = 0-9',
    'RekeyAfterTime = 100-110',
    'RekeyTimeout = 5',
    'RejectAfterTime = 180',
    'KeepaliveTimeout = 10',
    'MaxHandshakeAttempts = 18',
    'RandomTrailers = on',
    'DisableCookies = on',
    'PresharedKey = psk=',
  ])
    t.true(disguised.includes(`\n${line}\n`), line);
  t.false(disguised.includes('S4'));
});
