// Groups of clients.
import type { Act, Part, World } from '../act.js';
import { each, edit, some } from './choices.js';

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

export const groups: readonly Part[] = [
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
];
