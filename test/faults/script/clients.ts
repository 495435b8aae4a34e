// Clients, what they have used, and the addresses that use them.
import type { Act, Part, World } from '../act.js';
import { AT_ONCE, attached, baseIds, BASES, each, edit, gone, one } from './choices.js';

const onOne = (route: string, make: (email: string, world: World) => Act | undefined): Part => ({
  route: `POST ${route}`,
  make: (world) => {
    const email = one(world);
    return email === undefined ? undefined : make(email, world);
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

export const clients: readonly Part[] = [
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
      return email === undefined
        ? undefined
        : { path: `clients/hwids/${encodeURIComponent(email)}`, method: 'DELETE' };
    },
  },
];
