// Ports that stay open, and inbounds whose addresses prove nothing.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { isForgeable } from '../forgeable.js';
import { portsIn, portsOf, sshPorts } from '../ports.js';

test('reads the ports of sshd from its files', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  t.deepEqual(await sshPorts(folder), [22], 'without any');
  await mkdir(join(folder, 'sshd_config.d'));
  await writeFile(
    join(folder, 'sshd_config'),
    '#Port 99\nport 2022\n  Port\t2200 # more\nPort 99999\nListenAddress 0.0.0.0:2222\nListenAddress [::]:2223\nListenAddress 2001:db8::443\nGatewayPorts no\n',
  );
  await writeFile(join(folder, 'sshd_config.d', 'own.conf'), 'Port 2300\n');
  await writeFile(join(folder, 'sshd_config.d', 'own.conf.bak'), 'Port 2400\n');
  t.deepEqual(await sshPorts(folder), [22, 2022, 2200, 2222, 2223, 2300]);
});

test('takes a list of ports, and names what is not one', (t) => {
  t.deepEqual(portsIn(' 443, 8443\n80 '), [443, 8443, 80]);
  for (const text of ['0', '65536', '-1', '1.5', '22 }; flush ruleset', '22-80', 'ssh', '0x16'])
    t.throws(() => portsIn(text), { message: /is not a port/ }, text);
  t.throws(() => portsIn('1 '.repeat(65)), { message: /more than 64/ });
  t.deepEqual(portsOf({ ssh: [22], panel: [2053], setting: '443,22' }), {
    open: [22, 443, 2053],
    panel: [2053],
  });
});

test('addresses of mKCP, wireguard and the PROXY protocol prove nothing', (t) => {
  const of = (protocol: string, streamSettings: object) =>
    isForgeable({ protocol, streamSettings } as Parameters<typeof isForgeable>[0]);
  t.true(of('vless', { network: 'kcp' }));
  t.true(of('vless', { network: 'mKCP' }));
  t.true(of('vless', { network: 'tcp', rawSettings: { AcceptProxyProtocol: true } }));
  t.true(of('wireguard', {}));
  t.true(of('vless', { network: 'tcp', sockopt: { acceptProxyProtocol: true } }));
  t.true(of('vless', { network: 'ws', wsSettings: { acceptProxyProtocol: true } }));
  t.false(of('vless', { network: 'tcp', tcpSettings: { acceptProxyProtocol: false } }));
  t.false(of('trojan', { network: 'ws' }));
});
