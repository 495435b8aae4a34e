// Settings, tokens, nodes, certificates, callbacks, and what a central asks of this panel as its node.
import { randomUUID } from 'node:crypto';
import type { Act, Part, World } from '../act.js';
import type { Fields } from '../stored.js';

const onRecord = (
  area: string,
  start: string,
  route: string,
  make: (id: string | number, key: string, world: World) => Act,
): Part => ({
  route,
  make: async (world) => {
    const name = world.random.pick(world.named(area, start));
    return name === undefined ? undefined : make(await world.id(`${area}/${name}`), `${area}/${name}`, world);
  },
});

const settings = (path: string, wrap: (values: Fields) => unknown): Part => ({
  route: `POST ${path}`,
  make: ({ random }) => {
    const values = {
      pageSize: 10 + random.below(80),
      subTitle: `title ${random.below(1e6)}`,
      subAnnounce: 'x'.repeat(random.below(150)),
      nodeDownThreshold: 1 + random.below(9),
      warnExpiryDays: 1 + random.below(9),
      smtpHost: `mail-${random.below(1e6)}.example.com`,
    };
    return { path, body: wrap(values), change: { 'one/settings': values } };
  },
});

const node = (name: string, random: number) => ({
  ...{
    name,
    remark: `rack ${random}`,
    address: `n${random}.example.com`,
    apiToken: `token-${random}`,
    enable: false,
  },
});

/** A central's inbound and its clients: each record is whole by itself. */
async function wish(world: World): Promise<Act> {
  const [central, remark, port] = [randomUUID(), world.fresh('x-'), await world.port()];
  const emails = [1, 2, 3].map((n) => `${remark}-${n}`);
  const own = [...world.named('central', '')];
  // A panel has 16 centrals at most.
  const by = own.length >= 8 ? (own[0] as string) : central;
  const first = 1 + world.random.below(2 ** 31);
  return {
    path: 'x/node/apply',
    body: {
      central: by,
      changes: [
        {
          kind: 'inbound',
          id: first,
          version: 1,
          value: { protocol: 'vless', port, listen: '127.0.0.1', remark },
        },
        ...emails.map((email, i) => ({
          ...{ kind: 'client', id: first + i, version: 1, value: { email }, inboundIds: [first] },
        })),
      ],
    },
    change: {
      [`central/${by}`]: {},
      [`inbound/${remark}`]: { port },
      ...Object.fromEntries(emails.map((email) => [`client/${email}`, { inbounds: [remark] }])),
    },
    separately: true,
  };
}

export const ofPanel: readonly Part[] = [
  settings('setting/update', (values) => values),
  settings('x/settings/import', (values) => ({ settings: values, apply: true })),
  {
    route: 'POST x/preferences',
    make: ({ random }) => {
      const changes = { columns: [random.below(1e6)], theme: random.pick(['dark', 'light']) };
      return { path: 'x/preferences', body: { changes }, change: { 'one/preferences': changes } };
    },
  },
  {
    route: 'POST server/setUpdateChannel',
    make: ({ random }) => {
      const dev = random.below(2) === 1;
      return {
        path: 'server/setUpdateChannel',
        body: { dev },
        change: { 'one/settings': { devChannelEnable: dev } },
      };
    },
  },
  {
    route: 'POST setting/apiTokens/create',
    make: (world) => {
      const name = world.fresh('t-');
      return { path: 'setting/apiTokens/create', body: { name }, change: { [`token/${name}`]: {} } };
    },
  },
  onRecord('token', 't-', 'POST setting/apiTokens/setEnabled/{id}', (id, key) => ({
    path: `setting/apiTokens/setEnabled/${id}`,
    body: { enabled: false },
    change: { [key]: { enabled: false } },
  })),
  onRecord('token', 't-', 'POST setting/apiTokens/delete/{id}', (id, key) => ({
    path: `setting/apiTokens/delete/${id}`,
    method: 'POST',
    change: { [key]: undefined },
  })),
  {
    route: 'POST x/roles',
    make: (world) => {
      // A panel has 100 at most; two lanes may make one at the same time.
      if (world.named('role', 'r-').length >= 90) return undefined;
      const name = world.fresh('r-');
      const permissions = ['clients:read'];
      return { path: 'x/roles', body: { name, permissions }, change: { [`role/${name}`]: { permissions } } };
    },
  },
  onRecord('role', 'r-', 'POST x/roles/{id}', (id, key, { random }) => {
    const permissions = [random.pick(['inbounds:write', 'hosts:read']) ?? 'hosts:read'];
    return { path: `x/roles/${id}`, body: { permissions }, change: { [key]: { permissions } } };
  }),
  onRecord('role', 'r-', 'POST x/roles/{id}/del', (id, key) => ({
    path: `x/roles/${id}/del`,
    method: 'POST',
    change: { [key]: undefined },
  })),
  {
    route: 'POST x/admins',
    make: (world) => {
      if (world.named('admin', 'a-').length >= 90) return undefined;
      const username = world.fresh('a-');
      const body = { username, password: 'correct horse battery' };
      return { path: 'x/admins', body, change: { [`admin/${username}`]: {} } };
    },
  },
  onRecord('admin', 'a-', 'POST x/admins/{id}', (id, key, { random }) => {
    const enabled = random.below(2) === 1;
    return { path: `x/admins/${id}`, body: { enabled }, change: { [key]: { enabled } } };
  }),
  onRecord('admin', 'a-', 'POST x/admins/{id}/del', (id, key) => ({
    path: `x/admins/${id}/del`,
    method: 'POST',
    change: { [key]: undefined },
  })),
  {
    route: 'POST x/metrics/token',
    make: () => ({ path: 'x/metrics/token', method: 'POST', change: { 'one/metricsToken': { has: true } } }),
  },
  {
    route: 'DELETE x/metrics/token',
    make: () => ({
      path: 'x/metrics/token',
      method: 'DELETE',
      change: { 'one/metricsToken': { has: false } },
    }),
  },
  {
    route: 'POST nodes/add',
    make: (world) => {
      const body = node(world.fresh('n-'), world.random.below(1e6));
      return {
        path: 'nodes/add',
        body,
        change: { [`node/${body.name}`]: { remark: body.remark, address: body.address } },
      };
    },
  },
  onRecord('node', 'n-', 'POST nodes/update/{id}', (id, key, { random }) => {
    const body = node(key.slice('node/'.length), random.below(1e6));
    return {
      path: `nodes/update/${id}`,
      body,
      change: { [key]: { remark: body.remark, address: body.address } },
    };
  }),
  onRecord('node', 'n-', 'POST nodes/del/{id}', (id, key) => ({
    path: `nodes/del/${id}`,
    method: 'POST',
    change: { [key]: undefined },
  })),
  {
    route: 'POST x/certificates',
    make: (world) => {
      const name = `${world.fresh('k-')}.example.com`;
      return {
        path: 'x/certificates',
        body: { names: [name], directory: 'https://acme.example/directory', agreeToTerms: true },
        change: { [`certificate/${name}`]: {} },
      };
    },
  },
  onRecord('certificate', 'k-', 'POST x/certificates/{id}/del', (id, key) => ({
    path: `x/certificates/${id}/del`,
    body: { revoke: false },
    change: { [key]: undefined },
  })),
  {
    route: 'POST x/event-callbacks/endpoints',
    make: (world) => {
      // A panel has 20 at most; two lanes may make one at the same time.
      if (world.named('callback', 'https:').length >= 18) return undefined;
      const url = `https://shop.example/${world.fresh('e-')}`;
      const events = ['inbound.*'];
      return {
        path: 'x/event-callbacks/endpoints',
        body: { url, events, description: 'a shop' },
        change: { [`callback/${url}`]: { events, description: 'a shop' } },
      };
    },
  },
  onRecord('callback', 'https:', 'POST x/event-callbacks/endpoints/{id}', (id, key, { random }) => {
    const description = `shop ${random.below(1e6)}`;
    return {
      path: `x/event-callbacks/endpoints/${id}`,
      body: { description, enable: false },
      change: { [key]: { description, enable: false } },
    };
  }),
  onRecord('callback', 'https:', 'POST x/event-callbacks/endpoints/{id}/rotate', (id) => ({
    path: `x/event-callbacks/endpoints/${id}/rotate`,
    body: { overlapHours: 24 },
  })),
  onRecord('callback', 'https:', 'POST x/event-callbacks/endpoints/{id}/del', (id, key) => ({
    path: `x/event-callbacks/endpoints/${id}/del`,
    method: 'POST',
    change: { [key]: undefined },
  })),
  { route: 'POST x/node/apply', make: wish },
  {
    route: 'POST x/node/centrals/release',
    make: ({ random, named }) => {
      const central = random.pick(named('central', ''));
      if (central === undefined) return undefined;
      return {
        path: 'x/node/centrals/release',
        body: { central },
        change: { [`central/${central}`]: undefined },
      };
    },
  },
];
