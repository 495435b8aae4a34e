// Inbounds, clients, groups, addresses and fallbacks.
import type { Act, Part, World } from '../act.js';
import type { Fields } from '../stored.js';

const AT_ONCE = 12;
const BASES = ['base-1', 'base-2'];
const enc = encodeURIComponent;

const baseIds = (world: World): (string | number)[] => BASES.map((name) => world.ids.of(`inbound/${name}`));
const some = ({ random, named }: World, most = AT_ONCE): string[] => {
  const all = named('client', 'c-');
  const from = random.below(Math.max(1, all.length - most));
  return all.slice(from, from + 1 + random.below(most));
};
const one = (world: World): string | undefined => world.random.pick(world.named('client', 'c-'));
const each = (emails: readonly string[], change: Fields | undefined): Record<string, Fields | undefined> =>
  Object.fromEntries(emails.map((email) => [`client/${email}`, change]));
/** Names of the inbounds that each is attached to afterwards. */
const attached = (
  { stored }: World,
  emails: readonly string[],
  change: (names: readonly string[]) => readonly string[],
): Record<string, Fields> =>
  Object.fromEntries(
    emails.map((email) => {
      const { inbounds = [] } = (stored.get(`client/${email}`) ?? {}) as {
        readonly inbounds?: readonly string[];
      };
      return [`client/${email}`, { inbounds: [...new Set(change(inbounds))].sort() }];
    }),
  );
const gone = (emails: readonly string[]) => ({
  ...each(emails, undefined),
  ...Object.fromEntries(emails.map((email) => [`addresses/${email}`, undefined])),
});

const edit = (route: string, make: (emails: string[], world: World) => Act): Part => ({
  route: `POST ${route}`,
  make: (world) => {
    const emails = some(world);
    return emails.length > 0 ? make(emails, world) : undefined;
  },
});
const onOne = (route: string, make: (email: string, world: World) => Act | undefined): Part => ({
  route: `POST ${route}`,
  make: (world) => {
    const email = one(world);
    return email === undefined ? undefined : make(email, world);
  },
});
const onInbound = (route: string, make: (id: string | number, key: string) => Act): Part => ({
  route: `POST ${route}`,
  make: async (world) => {
    const name = world.random.pick(world.named('inbound', 'in-'));
    return name === undefined ? undefined : make(await world.id(`inbound/${name}`), `inbound/${name}`);
  },
});
const inbound = async (world: World) => {
  const [remark, port] = [world.fresh('in-'), await world.port()];
  return {
    body: { protocol: 'vless', listen: '127.0.0.1', port, remark },
    change: { [`inbound/${remark}`]: { port } },
  };
};
const group = (world: World) => world.random.pick(world.named('group', 'g-'));
const membersOf = ({ stored }: World, name: string): string[] =>
  [...stored].flatMap(([key, fields]) =>
    key.startsWith('client/') && fields['group'] === name ? [key.slice('client/'.length)] : [],
  );
const onGroup = (route: string, make: (name: string, world: World) => Act): Part => ({
  route: `POST clients/groups/${route}`,
  make: (world) => {
    const name = group(world);
    return name === undefined ? undefined : make(name, world);
  },
});
const allClients = ({ stored }: World): string[] =>
  [...stored.keys()].flatMap((key) => (key.startsWith('client/') ? [key.slice('client/'.length)] : []));

const create = (world: World): Act => {
  const emails = Array.from({ length: AT_ONCE }, () => world.fresh('c-'));
  return {
    path: 'clients/bulkCreate',
    body: emails.map((email) => ({ client: { email, comment: `of ${email}` }, inboundIds: baseIds(world) })),
    change: Object.fromEntries(
      emails.map((email) => [`client/${email}`, { comment: `of ${email}`, inbounds: BASES }]),
    ),
  };
};

export const accounts: readonly Part[] = [
  {
    route: 'POST clients/add',
    make: (world) => {
      const email = world.fresh('c-');
      return {
        path: 'clients/add',
        body: { client: { email, limitHwid: 2 }, inboundIds: baseIds(world) },
        change: { [`client/${email}`]: { limitHwid: 2, inbounds: BASES } },
      };
    },
  },
  { route: 'POST clients/bulkCreate', make: create },
  { route: 'POST clients/bulkCreate', make: create },
  {
    route: 'POST clients/import',
    make: (world) => {
      const emails = Array.from({ length: AT_ONCE }, () => world.fresh('c-'));
      const data = emails.map((email) => ({ client: { email }, inboundIds: [baseIds(world)[0]] }));
      return {
        path: 'clients/import',
        body: { data: JSON.stringify(data) },
        change: each(emails, { inbounds: ['base-1'] }),
        separately: true,
      };
    },
  },
  onOne('clients/update/{email}', (email, { random }) => {
    const fields = { comment: `number ${random.below(1e6)}`, totalGB: 1e6 + random.below(1e6) };
    return { path: `clients/update/${email}`, body: fields, change: each([email], fields) };
  }),
  onOne('clients/updateTraffic/{email}', (email, { random }) => {
    const [up, down] = [random.below(1000), random.below(1000)];
    return {
      path: `clients/updateTraffic/${email}`,
      body: { upload: up, download: down },
      change: each([email], { up, down }),
    };
  }),
  // A reset by name enables, whoever disabled.
  onOne('clients/resetTraffic/{email}', (email) => ({
    path: `clients/resetTraffic/${email}`,
    method: 'POST',
    change: each([email], { up: 0, down: 0, enable: true }),
  })),
  onOne('clients/{email}/detach', (email, world) => ({
    path: `clients/${email}/detach`,
    body: { inboundIds: [baseIds(world)[1]] },
    change: attached(world, [email], (names) => names.filter((name) => name !== 'base-2')),
  })),
  onOne('clients/{email}/attach', (email, world) => ({
    path: `clients/${email}/attach`,
    body: { inboundIds: baseIds(world) },
    change: attached(world, [email], (names) => [...names, ...BASES]),
  })),
  onOne('clients/del/{email}', (email) => ({
    path: `clients/del/${email}`,
    method: 'POST',
    change: gone([email]),
  })),
  {
    route: 'POST clients/{email}/externalLinks',
    make: ({ random }) => {
      const remarks = Array.from({ length: 1 + random.below(5) }, (_, i) => `link ${i} ${random.below(1e6)}`);
      const externalLinks = remarks.map((remark) => ({
        ...{ kind: 'link', remark },
        value: 'trojan://secret@edge.example.org:443#edge',
      }));
      return {
        path: 'clients/linked/externalLinks',
        body: { externalLinks },
        change: { 'client/linked': { links: remarks } },
      };
    },
  },
  edit('clients/bulkAttach', (emails, world) => ({
    path: 'clients/bulkAttach',
    body: { emails, inboundIds: baseIds(world) },
    change: attached(world, emails, (names) => [...names, ...BASES]),
  })),
  edit('clients/bulkDetach', (emails, world) => ({
    path: 'clients/bulkDetach',
    body: { emails, inboundIds: [baseIds(world)[1]] },
    change: attached(world, emails, (names) => names.filter((name) => name !== 'base-2')),
  })),
  edit('clients/bulkDisable', (emails) => ({
    path: 'clients/bulkDisable',
    body: { emails },
    change: each(emails, { enable: false }),
  })),
  edit('clients/bulkEnable', (emails) => ({
    path: 'clients/bulkEnable',
    body: { emails },
    change: each(emails, { enable: true }),
  })),
  edit('clients/bulkResetTraffic', (emails) => ({
    path: 'clients/bulkResetTraffic',
    body: { emails },
    change: each(emails, { up: 0, down: 0, enable: true }),
  })),
  edit('clients/bulkAdjust', (emails, { stored }) => ({
    path: 'clients/bulkAdjust',
    body: { emails, addBytes: 1000 },
    // Without a quota there is nothing to add to.
    change: Object.fromEntries(
      emails.map((email) => {
        const { totalGB = 0 } = (stored.get(`client/${email}`) ?? {}) as { readonly totalGB?: number };
        return [`client/${email}`, { totalGB: totalGB > 0 ? totalGB + 1000 : 0 }];
      }),
    ),
  })),
  edit('clients/bulkDel', (emails) => ({ path: 'clients/bulkDel', body: { emails }, change: gone(emails) })),
  {
    route: 'POST clients/resetAllTraffics',
    make: (world) => ({
      path: 'clients/resetAllTraffics',
      method: 'POST',
      change: each(allClients(world), { up: 0, down: 0 }),
    }),
  },
  {
    route: 'POST clients/groups/create',
    make: (world) => {
      const name = world.fresh('g-');
      return { path: 'clients/groups/create', body: { name }, change: { [`group/${name}`]: {} } };
    },
  },
  onGroup('bulkAdd', (name, world) => {
    const emails = some(world);
    return {
      path: 'clients/groups/bulkAdd',
      body: { emails, group: name },
      change: each(emails, { group: name }),
    };
  }),
  onGroup('rename', (name, world) => {
    const newName = world.fresh('g-');
    return {
      path: 'clients/groups/rename',
      body: { oldName: name, newName },
      change: {
        [`group/${name}`]: undefined,
        [`group/${newName}`]: {},
        ...each(membersOf(world, name), { group: newName }),
      },
    };
  }),
  onGroup('resetTraffic', (name) => ({ path: 'clients/groups/resetTraffic', body: { name } })),
  onGroup('delete', (name, world) => ({
    path: 'clients/groups/delete',
    body: { name },
    change: { [`group/${name}`]: undefined, ...each(membersOf(world, name), { group: '' }) },
  })),
  edit('clients/groups/bulkRemove', (emails) => ({
    path: 'clients/groups/bulkRemove',
    body: { emails },
    change: each(emails, { group: '' }),
  })),
  edit('server/clientIps', (emails, { random, stored }) => {
    const seen = emails.map((email) => ({ email, ip: `198.51.100.${1 + random.below(250)}` }));
    return {
      path: 'server/clientIps',
      body: seen.map(({ email, ip }) => ({
        clientEmail: email,
        ips: [{ ip, timestamp: Math.floor(Date.now() / 1000) }],
      })),
      change: Object.fromEntries(
        seen.map(({ email, ip }) => {
          const { ips = [] } = (stored.get(`addresses/${email}`) ?? {}) as {
            readonly ips?: readonly string[];
          };
          return [`addresses/${email}`, { ips: [...new Set([...ips, ip])].sort() }];
        }),
      ),
    };
  }),
  {
    route: 'POST clients/clearIps/{email}',
    make: ({ random, named }) => {
      const email = random.pick(named('addresses', 'c-'));
      if (email === undefined) return undefined;
      return {
        path: `clients/clearIps/${email}`,
        method: 'POST',
        change: { [`addresses/${email}`]: undefined },
      };
    },
  },
  {
    route: 'POST inbounds/add',
    make: async (world) => ({ path: 'inbounds/add', ...(await inbound(world)) }),
  },
  {
    route: 'POST inbounds/import',
    make: async (world) => {
      const { body, change } = await inbound(world);
      const email = world.fresh('c-');
      const [key = ''] = Object.keys(change);
      return {
        path: 'inbounds/import',
        body: { data: { ...body, settings: { clients: [{ email }] }, up: 10, down: 20 } },
        change: {
          [key]: { ...change[key], up: 10, down: 20 },
          [`client/${email}`]: { inbounds: [key.slice('inbound/'.length)] },
        },
      };
    },
  },
  onInbound('inbounds/update/{id}', (id, key) => {
    const total = Math.floor(Date.now() % 1e6);
    return { path: `inbounds/update/${id}`, body: { total }, change: { [key]: { total } } };
  }),
  onInbound('inbounds/setEnable/{id}', (id, key) => ({
    path: `inbounds/setEnable/${id}`,
    body: { enable: false },
    change: { [key]: { enable: false } },
  })),
  onInbound('inbounds/{id}/subSortIndex', (id, key) => ({
    path: `inbounds/${id}/subSortIndex`,
    body: { subSortIndex: 3 },
    change: { [key]: { subSortIndex: 3 } },
  })),
  onInbound('inbounds/{id}/resetTraffic', (id, key) => ({
    path: `inbounds/${id}/resetTraffic`,
    method: 'POST',
    change: { [key]: { up: 0, down: 0 } },
  })),
  {
    route: 'POST inbounds/resetAllTraffics',
    make: ({ stored }) => ({
      path: 'inbounds/resetAllTraffics',
      method: 'POST',
      change: Object.fromEntries(
        [...stored.keys()]
          .filter((key) => key.startsWith('inbound/'))
          .map((key) => [key, { up: 0, down: 0 }]),
      ),
    }),
  },
  {
    route: 'POST inbounds/del/{id}',
    make: async (world) => {
      const name = world.random.pick(world.named('inbound', 'in-'));
      if (name === undefined) return undefined;
      return {
        path: `inbounds/del/${await world.id(`inbound/${name}`)}`,
        method: 'POST',
        change: without(world, [name]),
      };
    },
  },
  {
    route: 'POST inbounds/bulkDel',
    make: async (world) => {
      const names = world.named('inbound', 'in-').slice(0, 2);
      if (names.length === 0) return undefined;
      const ids = await Promise.all(names.map((name) => world.id(`inbound/${name}`)));
      return { path: 'inbounds/bulkDel', body: { ids }, change: without(world, names), separately: true };
    },
  },
  {
    route: 'POST inbounds/{id}/fallbacks',
    make: ({ random, ids }) => {
      const dests = Array.from(
        { length: 1 + random.below(3) },
        (_, i) => `site-${i}.example:${80 + random.below(9)}`,
      );
      return {
        path: `inbounds/${ids.of('inbound/base-1')}/fallbacks`,
        body: { fallbacks: dests.map((dest) => ({ dest })) },
        change: { 'one/fallbacks': { dests } },
      };
    },
  },
  {
    route: 'POST clients/delOrphans',
    make: (world) => ({
      path: 'clients/delOrphans',
      method: 'POST',
      change: gone(
        allClients(world).filter((email) => {
          const { inbounds } = (world.stored.get(`client/${email}`) ?? {}) as {
            readonly inbounds?: unknown[];
          };
          return inbounds?.length === 0;
        }),
      ),
    }),
  },
  { route: 'POST clients/delDepleted', make: () => ({ path: 'clients/delDepleted', method: 'POST' }) },
  {
    route: 'DELETE clients/hwids/{email}',
    make: (world) => {
      const email = one(world);
      return email === undefined ? undefined : { path: `clients/hwids/${enc(email)}`, method: 'DELETE' };
    },
  },
];

/** The inbounds go, and their clients are no longer attached to them. */
function without({ stored }: World, names: readonly string[]): Record<string, Fields | undefined> {
  const change: Record<string, Fields | undefined> = Object.fromEntries(
    names.map((name) => [`inbound/${name}`, undefined]),
  );
  for (const [key, { inbounds }] of stored)
    if (key.startsWith('client/') && Array.isArray(inbounds) && inbounds.some((name) => names.includes(name)))
      change[key] = { inbounds: inbounds.filter((name) => !names.includes(name)) };
  return change;
}
