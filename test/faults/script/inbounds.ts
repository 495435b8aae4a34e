// Inbounds and fallbacks.
import type { Act, Part, World } from '../act.js';
import type { Fields } from '../stored.js';

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

export const inbounds: readonly Part[] = [
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
];
