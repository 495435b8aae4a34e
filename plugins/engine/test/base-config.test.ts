// How the base of the core's config is put together from what plugins add; that it holds is tried with a real core in test/engine.
import { syncBuiltinESMExports } from 'node:module';
import { BlockList, isIPv6 } from 'node:net';
import os from 'node:os';
import test from 'ava';
import { baseConfig, type BaseParts } from '../config/base-config.js';
import { comesFromOurAddress } from '../own-address.js';
import { PRIVATE_RANGES } from '../../core-guard/contract.js';

interface Base {
  readonly outbounds: readonly {
    readonly tag: string;
    readonly protocol: string;
    readonly targetStrategy?: string;
    readonly settings?: { readonly domainStrategy?: string };
    readonly streamSettings?: { readonly sockopt: Readonly<Record<string, unknown>> };
  }[];
  readonly dns?: { readonly servers: readonly { address: string; unexpectedIPs: string[] }[] };
  readonly routing: {
    readonly domainStrategy: string;
    readonly rules: readonly Readonly<Record<string, unknown>>[];
  };
}
const base = (parts: Partial<BaseParts> = {}): Base =>
  baseConfig({
    outbounds: [],
    rules: [],
    nameServers: [],
    open: { private: 'block', udp: 'single' },
    ...parts,
  }) as unknown as Base;
const outbound = (found: Base, tag: string) => found.outbounds.find((one) => one.tag === tag);

test('a freedom that a plugin adds looks names up only in the core’s DNS, in its own address family', (t) => {
  const found = base({
    outbounds: [
      {
        tag: 'plain',
        protocol: 'Freedom',
        streamSettings: { sockopt: { mark: 7, addressPortStrategy: 'txtportandaddress' } },
      },
      {
        tag: 'four',
        protocol: 'freedom',
        targetStrategy: 'UseIPv4',
        settings: { domainStrategy: 'UseIPv4', userLevel: 0 },
      },
      { tag: 'asis', protocol: 'direct', settings: { domainStrategy: 'AsIs' } },
      { tag: 'six', protocol: 'freedom', streamSettings: { sockopt: { domainStrategy: 'useipv6v4' } } },
      { tag: 'questions', protocol: 'dns' },
    ],
  });
  for (const tag of ['direct', 'plain', 'four', 'asis', 'questions']) {
    const { sockopt } = outbound(found, tag)?.streamSettings ?? {};
    t.is(sockopt?.['domainStrategy'], 'ForceIP', tag);
    t.is(sockopt?.['addressPortStrategy'], 'none', tag);
  }
  t.is(outbound(found, 'plain')?.streamSettings?.sockopt['mark'], 7, 'what else it has stays');
  t.is(outbound(found, 'four')?.settings?.domainStrategy, 'ForceIPv4');
  t.is(outbound(found, 'four')?.targetStrategy, 'ForceIPv4');
  t.is(outbound(found, 'asis')?.settings?.domainStrategy, 'AsIs', 'then the names come to the sockopt');
  t.is(outbound(found, 'six')?.streamSettings?.sockopt['domainStrategy'], 'ForceIPv6v4');
});

test('an outbound that leads elsewhere is left as it is', (t) => {
  const remote = {
    tag: 'remote',
    protocol: 'socks',
    settings: { servers: [{ address: '127.0.0.1', port: 1 }] },
  };
  t.deepEqual(outbound(base({ outbounds: [remote] }), 'remote'), remote as never);
});

test('every name server leaves private addresses out, whatever a plugin says of it', (t) => {
  const found = base({
    nameServers: ['9.9.9.9', { address: '8.8.8.8', unexpectedIPs: ['*', '192.0.2.0/24'] }],
  });
  const servers = found.dns?.servers ?? [];
  t.deepEqual(
    servers.map(({ address }) => address),
    ['9.9.9.9', '8.8.8.8'],
  );
  for (const { unexpectedIPs } of servers) {
    t.true(unexpectedIPs.includes('127.0.0.0/8') && unexpectedIPs.includes('fc00::/7'));
    t.false(unexpectedIPs.includes('*'), 'else the core would take them where there is nothing better');
  }
  t.true(servers[1]?.unexpectedIPs.includes('192.0.2.0/24'));
  t.deepEqual(
    base().dns?.servers.map(({ address }) => address),
    ['localhost'],
    'else the system’s resolver',
  );
  t.is(
    found.routing.rules[0]?.['outboundTag'],
    'weir.dns',
    'a name server may itself have a private address',
  );
});

/** of the rule as it was added; its tag in the core begins with a digest */
const ownTag = (tag: unknown): string | undefined => /^weir\.[0-9a-f]{12}\.(.*)$/.exec(String(tag))?.[1];

test('packets go by an outbound for packets, wherever a rule sends them', (t) => {
  const found = base({
    outbounds: [{ tag: 'second', protocol: 'freedom' }],
    rules: [
      { ruleTag: 'a', port: '1', outboundTag: 'second' },
      { port: '2', network: 'tcp', outboundTag: 'second' },
      { port: '3', network: ['udp'], outboundTag: 'second' },
      { port: '4', outboundTag: 'blocked' },
      { port: '5', network: ' UDP , tcp', outboundTag: 'second' },
    ],
  });
  t.deepEqual(
    found.routing.rules
      .slice(2)
      .map(({ ruleTag, port, network, outboundTag }) => [ownTag(ruleTag), port, network, outboundTag]),
    [
      ['weir.udp.a', '1', 'udp', 'weir.udp.second'],
      ['a', '1', 'tcp', 'second'],
      [undefined, '2', 'tcp', 'second'],
      [undefined, '3', 'udp', 'weir.udp.second'],
      [undefined, '4', undefined, 'blocked'],
      [undefined, '5', 'udp', 'weir.udp.second'],
      [undefined, '5', 'tcp', 'second'],
      [undefined, undefined, 'udp', 'weir.udp.direct'],
      [undefined, undefined, 'tcp', 'direct'],
    ],
  );
  t.is(found.outbounds[0]?.tag, 'weir.udp.direct', 'the core’s default, for what no rule takes');
  for (const tag of ['direct', 'second'])
    t.is(outbound(found, `weir.udp.${tag}`)?.streamSettings?.sockopt['dialerProxy'], tag);
  t.deepEqual(
    base({ open: { private: 'block', udp: 'cone' } }).outbounds.map(({ tag }) => tag),
    ['direct', 'blocked', 'weir.blocked'],
  );
});

test('a balancer that chooses from nothing blocks, and does not let its traffic leave by the first outbound', (t) => {
  const balancers = [
    { tag: 'full', selector: ['exit-'], strategy: { type: 'leastPing' } },
    { tag: 'empty', selector: ['gone-', 'other-'], strategy: { type: 'leastPing' } },
    { tag: 'bare' },
    { tag: 'odd', selector: ['gone-'], strategy: { type: 'no such' } },
    { tag: 'falling', selector: ['gone-'], fallbackTag: 'exit-1' },
  ];
  const outbounds = [{ tag: 'exit-1', protocol: 'socks', settings: {} }];
  const rules = balancers.map(({ tag }, at) => ({ port: String(at + 1), balancerTag: tag }));
  for (const open of ['block', 'allow'] as const) {
    const found = base({ outbounds, balancers, rules, open: { private: open, udp: 'single' } });
    t.is(outbound(found, 'weir.blocked')?.protocol, 'blackhole');
    const { balancers: made } = found.routing as unknown as {
      balancers: readonly (Readonly<Record<'selector' | 'strategy' | 'fallbackTag', unknown>> & {
        tag: string;
      })[];
    };
    const chosen = (name: string) => {
      const ones = made.filter(({ tag }) => new RegExp(`^(?:weir\\.udp\\.)?${name}@`).test(tag));
      t.is(ones.length, open === 'block' ? 2 : 1, name);
      return [
        ...new Set(
          ones.map(({ selector, strategy, fallbackTag }) =>
            JSON.stringify([selector, strategy, fallbackTag]),
          ),
        ),
      ];
    };
    const leastPing = { type: 'leastPing' };
    for (const [name, ...expected] of [
      ['full', ['exit-'], leastPing, undefined],
      ['empty', ['weir.blocked'], leastPing, 'weir.blocked'],
      ['bare', ['weir.blocked'], undefined, undefined],
      // The core refuses it.
      ['odd', ['weir.blocked'], { type: 'no such' }, undefined],
      ['falling', ['gone-'], undefined, 'exit-1'],
    ] as const)
      t.deepEqual(chosen(name), [JSON.stringify(expected)], name);
  }
  t.is(outbound(base({ open: { private: 'allow', udp: 'single' } }), 'weir.blocked'), undefined);
});

test('packets of a balancer go by a balancer for packets, also where it chooses no freedom: an override may', (t) => {
  const far = { tag: 'far', protocol: 'socks' };
  const odd = { tag: 'dir', protocol: 'socks' };
  const found = base({
    outbounds: [far, odd],
    balancers: [
      { tag: 'mixed', selector: ['dir', 'fa'], strategy: { type: 'leastPing' } },
      { tag: 'last', selector: ['far'], fallbackTag: 'direct' },
      { tag: 'away', selector: ['far'] },
    ],
    rules: [
      { port: '1', balancerTag: 'mixed' },
      { port: '2', network: 'tcp', balancerTag: 'last' },
      { port: '3', balancerTag: 'last' },
      { port: '4', balancerTag: 'away' },
      { port: '5', outboundTag: 'far', balancerTag: 'mixed' },
    ],
    sections: {
      observatory: { subjectSelector: ['dir', 'far'] },
      burstObservatory: { subjectSelector: ['far'] },
    },
  });
  const { balancers } = found.routing as unknown as { balancers: Readonly<Record<string, unknown>>[] };
  const plain = (tag: unknown) => String(tag).replace(/@.*/, '');
  t.deepEqual(
    found.routing.rules
      .slice(2, -2)
      .map(({ port, network, balancerTag }) => [port, network, plain(balancerTag)]),
    [
      ['1', 'udp', 'weir.udp.mixed'],
      ['1', 'tcp', 'mixed'],
      ['2', 'tcp', 'last'],
      ['3', 'udp', 'weir.udp.last'],
      ['3', 'tcp', 'last'],
      ['4', 'udp', 'weir.udp.away'],
      ['4', 'tcp', 'away'],
      ['5', undefined, 'mixed'],
    ],
  );
  t.deepEqual(
    balancers.map(({ tag, selector, fallbackTag }) => [plain(tag), selector, fallbackTag]),
    [
      ['mixed', ['dir', 'fa'], undefined],
      ['last', ['far'], 'direct'],
      ['away', ['far'], undefined],
      ['weir.udp.mixed', ['fa', 'weir.udp.direct', 'weir.udp.dir'], undefined],
      ['weir.udp.last', ['far'], 'weir.udp.direct'],
      ['weir.udp.away', ['far'], undefined],
    ],
    'the core chooses by beginnings, and dir would take direct in',
  );
  t.like(outbound(found, 'weir.udp.dir'), { settings: { domainStrategy: 'AsIs' } });
  const { observatory, burstObservatory } = found as unknown as Record<string, { subjectSelector: string[] }>;
  t.deepEqual(observatory?.subjectSelector, ['dir', 'far', 'weir.udp.direct', 'weir.udp.dir']);
  t.deepEqual(burstObservatory?.subjectSelector, ['far'], 'it observes no freedom');
  const cone = base({
    balancers: [{ tag: 'mixed', selector: ['direct'] }],
    open: { private: 'block', udp: 'cone' },
  });
  t.is((cone.routing as unknown as { balancers: unknown[] }).balancers.length, 1);
});

test('another default outbound comes first and takes what no rule takes', (t) => {
  const far = { tag: 'far', protocol: 'socks' };
  const near = { tag: 'near', protocol: 'freedom' };
  const found = base({ outbounds: [near, far], defaultTag: 'far' });
  t.is(found.outbounds[0]?.tag, 'far');
  t.like(found.routing.rules.at(-1), { network: 'tcp,udp', outboundTag: 'far' });
  const packets = base({ outbounds: [far, near], defaultTag: 'near' });
  t.is(packets.outbounds[0]?.tag, 'weir.udp.near');
  t.deepEqual(
    packets.routing.rules.slice(-2).map(({ network, outboundTag }) => [network, outboundTag]),
    [
      ['udp', 'weir.udp.near'],
      ['tcp', 'near'],
    ],
  );
});

test('what a plugin calls blocked opens nothing: private targets lead to an outbound of ours', (t) => {
  const found = base({ outbounds: [{ tag: 'blocked', protocol: 'freedom' }] });
  t.is(found.outbounds.filter(({ tag }) => tag === 'blocked').length, 1);
  t.like(outbound(found, 'weir.blocked'), { protocol: 'blackhole' });
  t.deepEqual(
    found.routing.rules.slice(0, 2).map(({ outboundTag }) => outboundTag),
    ['weir.blocked', 'weir.blocked'],
  );
});

test('names are looked up for rules on addresses, and never before the target itself was checked', (t) => {
  const rule = { ip: ['198.51.100.0/24'], outboundTag: 'blocked' };
  const { domainStrategy, rules } = base({ rules: [rule] }).routing;
  t.is(domainStrategy, 'IPIfNonMatch');
  t.is(base().routing.rules.at(-1)?.['ip'], undefined, 'else the last rule takes a name as it is');
  t.is(base({ rules: [rule], looksUp: false }).routing.rules.at(-1)?.['ip'], undefined);
  t.deepEqual(
    rules.at(-1)?.['ip'],
    ['0.0.0.0/0', '::/0'],
    'the last rule waits for the address like the others',
  );
});

test('with everything allowed the config is what plugins add, and nothing more', (t) => {
  const { outbounds, dns, routing } = base({ open: { private: 'allow', udp: 'single' } });
  t.deepEqual(outbounds as unknown, [
    { tag: 'direct', protocol: 'freedom' },
    { tag: 'blocked', protocol: 'blackhole' },
  ]);
  t.is(dns, undefined);
  t.deepEqual(
    routing.rules.map(({ network, outboundTag }) => [network, outboundTag]),
    [['tcp,udp', 'direct']],
  );
});

test('loopback, private and foreign addresses are not a public address of ours', (t) => {
  for (const remoteAddress of [
    '127.0.0.1',
    '::1',
    '::ffff:127.0.0.1',
    '10.0.0.1',
    '203.0.113.9',
    '2606:4700::1',
    '',
  ])
    t.false(comesFromOurAddress({ remoteAddress }), remoteAddress);
});

test.serial('a public address of ours is one in each spelling, a private one is not', (t) => {
  const { networkInterfaces } = os;
  const addresses = ['203.0.113.9', '10.0.0.5', '2606:4700::9', 'fd00::5'];
  os.networkInterfaces = (() => ({
    eth0: addresses.map((address) => ({ address })),
  })) as unknown as typeof networkInterfaces;
  syncBuiltinESMExports();
  try {
    for (const remoteAddress of ['203.0.113.9', '::ffff:203.0.113.9', '2606:4700::9'])
      t.true(comesFromOurAddress({ remoteAddress }), remoteAddress);
    for (const remoteAddress of ['10.0.0.5', '::ffff:10.0.0.5', 'fd00::5', '203.0.113.10'])
      t.false(comesFromOurAddress({ remoteAddress }), remoteAddress);
    // An outbound may name the address that its connections come from.
    for (const remoteAddress of ['10.0.0.5', '::ffff:10.0.0.5', 'fd00::5', '127.0.0.1', '127.0.0.9', '::1']) {
      for (const localAddress of ['203.0.113.9', '::ffff:203.0.113.9', '2606:4700::9'])
        t.true(comesFromOurAddress({ remoteAddress, localAddress }), `${remoteAddress} at ${localAddress}`);
      t.false(comesFromOurAddress({ remoteAddress, localAddress: '127.0.0.1' }), remoteAddress);
    }
    t.false(
      comesFromOurAddress({ remoteAddress: '10.0.0.6', localAddress: '203.0.113.9' }),
      'another machine',
    );
  } finally {
    os.networkInterfaces = networkInterfaces;
    syncBuiltinESMExports();
  }
});

test('the private ranges hold what is special, also inside IPv6, and nothing else', (t) => {
  const list = new BlockList();
  for (const range of PRIVATE_RANGES) {
    const [address = '', prefix] = range.split('/');
    list.addSubnet(address, Number(prefix), isIPv6(address) ? 'ipv6' : 'ipv4');
  }
  const holds = (address: string): boolean => list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
  const four = [
    ...['0.1.2.3', '10.255.255.255', '100.100.100.200', '127.9.9.9', '169.254.169.254', '168.63.129.16'],
    ...['172.31.0.1', '192.0.0.8', '192.168.9.9', '198.19.0.1', '224.0.0.1', '255.255.255.255'],
  ];
  const six = [
    ...['::', '::1', '::7f00:1', '::ffff:0:7f00:1', '64:ff9b:1::1', '100::1', '2001::1', '2002:7f00:1::1'],
    ...['fd00:ec2::254', 'fe80::1', 'fec0::1', 'ff02::1'],
  ];
  for (const address of [...four, ...six, ...four.map((inside) => `64:ff9b::${inside}`)])
    t.true(holds(address), address);
  const open = ['1.1.1.1', '100.128.0.1', '172.32.0.1', '168.63.129.17', '192.0.1.1'];
  for (const address of [...open, ...open.map((inside) => `64:ff9b::${inside}`), '2606:4700::1', '2a00::1'])
    t.false(holds(address), address);
});
