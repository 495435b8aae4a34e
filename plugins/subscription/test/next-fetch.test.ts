// What an admin changes is in the next fetch, in every format that shows it, also for a program that has the previous body.
import test from 'ava';
import { type FormatName, fetchIn, FORMATS, type Subscribed, subscribed, UUID } from './edits.js';

const OTHER_UUID = '99999999-2222-4333-8444-555555555555';

interface Edit {
  readonly what: string;
  readonly make: (world: Subscribed) => Promise<unknown>;
  /** no fetch has it before, each has it afterwards */
  readonly comes?: string;
  /** each fetch has it before, none afterwards */
  readonly goes?: string;
  /** formats that show it; else all */
  readonly only?: readonly FormatName[];
  /** The body stays; only headers change. */
  readonly inHeaders?: true;
}
const inbound = (i: 0 | 1, fields: object) => (world: Subscribed) =>
  world.post(`inbounds/update/${world.inbounds[i]}`, fields);
const client = (fields: object) => (world: Subscribed) => world.post('clients/update/ann', fields);
const set = (values: object) => (world: Subscribed) => world.set(values);
let group = '';

// One after another on one panel.
const EDITS: readonly Edit[] = [
  { what: 'the port of an inbound', make: inbound(0, { port: 20_011 }), goes: '20001', comes: '20011' },
  { what: 'the name of an inbound', make: inbound(0, { remark: 'uno' }), goes: 'one-', comes: 'uno-' },
  {
    what: 'the transport of an inbound',
    make: inbound(1, { streamSettings: { network: 'ws', wsSettings: { path: '/new-path' } } }),
    goes: '/old-path',
    comes: '/new-path',
  },
  {
    what: 'an inbound is disabled',
    make: ({ post, inbounds }) => post(`inbounds/setEnable/${inbounds[1]}`, { enable: false }),
    goes: '20002',
  },
  {
    what: 'an inbound is enabled',
    make: ({ post, inbounds }) => post(`inbounds/setEnable/${inbounds[1]}`, { enable: true }),
    comes: '20002',
  },
  {
    what: 'the place of an inbound',
    make: ({ post, inbounds }) => post(`inbounds/${inbounds[0]}/subSortIndex`, { subSortIndex: 9 }),
    goes: 'uno-ann',
    comes: 'two-ann',
  },
  { what: 'the UUID of a client', make: client({ uuid: OTHER_UUID }), goes: UUID, comes: OTHER_UUID },
  {
    what: 'the quota of a client',
    make: client({ totalGB: 7_000_000 }),
    comes: 'total=7000000;',
    inHeaders: true,
  },
  {
    what: 'the usage of a client',
    make: ({ post }) => post('clients/updateTraffic/ann', { upload: 12, download: 345 }),
    comes: 'upload=12; download=345;',
    inHeaders: true,
  },
  { what: 'a client is disabled', make: client({ enable: false }), goes: '20002' },
  { what: 'a client is enabled', make: client({ enable: true }), comes: '20002' },
  {
    what: 'a client leaves an inbound',
    make: ({ post, inbounds }) => post('clients/ann/detach', { inboundIds: [inbounds[1]] }),
    goes: '20002',
  },
  {
    what: 'a client joins an inbound',
    make: ({ post, inbounds }) => post('clients/ann/attach', { inboundIds: [inbounds[1]] }),
    comes: '20002',
  },
  {
    what: 'a host is added',
    make: async ({ post, inbounds }) => {
      const rows = (await post('hosts/add', {
        inboundIds: [inbounds[1]],
        remark: 'cdn',
        hosts: ['first.example'],
      })) as { groupId: string }[];
      group = rows[0]?.groupId ?? '';
    },
    comes: 'first.example',
  },
  {
    what: 'the address of a host',
    make: ({ post }) => post(`hosts/update/${group}`, { hosts: ['second.example'] }),
    goes: 'first.example',
    comes: 'second.example',
  },
  {
    what: 'a host is disabled',
    make: ({ post }) => post(`hosts/setEnable/${group}`, { enable: false }),
    goes: 'second.example',
  },
  {
    what: 'a host is enabled',
    make: ({ post }) => post(`hosts/setEnable/${group}`, { enable: true }),
    comes: 'second.example',
  },
  { what: 'a host is deleted', make: ({ post }) => post(`hosts/del/${group}`), goes: 'second.example' },
  {
    what: 'the template of names',
    make: set({ remarkTemplate: '{{INBOUND}}:{{EMAIL}}' }),
    goes: 'two-ann',
    comes: 'two:ann',
  },
  {
    what: 'names on all links',
    make: set({ subShowIdentityOnAllLinks: true }),
    comes: 'uno:ann',
  },
  {
    what: 'the update interval',
    make: set({ subUpdates: 77 }),
    comes: 'profile-update-interval: 77',
    inHeaders: true,
  },
  { what: 'the title', make: set({ subTitle: 'T' }), comes: 'profile-title: base64:VA==', inHeaders: true },
  {
    what: 'the rules of JSON',
    make: set({ subJsonRules: '[{"type":"field","domain":["json.example"],"outboundTag":"block"}]' }),
    comes: 'json.example',
    only: ['json'],
  },
  {
    what: 'the multiplexing of JSON',
    make: set({ subJsonMux: '{"enabled":true,"concurrency":713}' }),
    comes: '713',
    only: ['json'],
  },
  {
    what: 'a balancer',
    make: ({ post, inbounds }) => post('sub-balancers', { remark: 'Balanced', inboundIds: inbounds }),
    comes: 'Balanced',
    only: ['json'],
  },
  {
    what: 'the rules of the YAML',
    make: set({ subAltEnableRouting: true, subAltRules: 'DOMAIN-SUFFIX,yaml.example,DIRECT' }),
    comes: 'yaml.example',
    only: ['alt'],
  },
  {
    what: 'the template of sing-box',
    make: set({
      subSingBoxTemplate: '{"outbounds":[{"type":"selector","tag":"sb-group","outbounds":["{all}"]}]}',
    }),
    comes: 'sb-group',
    only: ['sing-box'],
  },
];

test('every edit is in the next fetch of every format', async (t) => {
  const world = await subscribed(t);
  for (const { what, make, comes, goes, only = FORMATS, inHeaders = false } of EDITS) {
    const before = await Promise.all(FORMATS.map((format) => fetchIn(world, format)));
    await make(world);
    for (const [i, format] of FORMATS.entries()) {
      const previous = before[i];
      const { status, text } = await fetchIn(world, format, { etag: previous?.etag });
      const shows = only.includes(format);
      t.is(status, shows && !inHeaders ? 200 : 304, `${what}, ${format}`);
      if (!shows) continue;
      if (comes !== undefined)
        t.deepEqual(
          [previous?.text.includes(comes), text.includes(comes)],
          [false, true],
          `${what}, ${format}`,
        );
      if (goes !== undefined)
        t.deepEqual(
          [previous?.text.includes(goes), text.includes(goes)],
          [true, false],
          `${what}, ${format}`,
        );
    }
  }
});

test('a client, a format and a path that are gone are gone at the next fetch, and new ones are there', async (t) => {
  const world = await subscribed(t);
  const statuses = (id = 'ann') =>
    Promise.all(FORMATS.map(async (format) => (await fetchIn(world, format, { id })).status));
  await world.post('clients/update/ann', { subId: 'moved' });
  t.deepEqual([await statuses(), await statuses('moved')], [Array(4).fill(404), Array(4).fill(200)]);
  await world.set({ subJsonEnable: false, altFormatPath: '/elsewhere/' });
  t.deepEqual(await statuses('moved'), [200, 404, 404, 200]);
  await world.set({ subJsonEnable: true, altFormatPath: '/alt/' });
  t.deepEqual(await statuses('moved'), Array(4).fill(200));
  await world.set({ subEnable: false });
  t.deepEqual(await statuses('moved'), Array(4).fill(404));
  await world.set({ subEnable: true });
  await world.post('clients/del/ann');
  t.deepEqual(await statuses('moved'), Array(4).fill(404));
});
