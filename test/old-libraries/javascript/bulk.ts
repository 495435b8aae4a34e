// Methods of many clients at once, and of groups.
import { type Checks, type Client, newEmail, type World } from './world.js';

const DAY = 86_400_000;
const two = async (world: World, fields: Record<string, unknown> = {}): Promise<string[]> => [
  (await world.client(fields)).email,
  (await world.client(fields)).email,
];
const emailsOf = (world: World, group: string): Promise<string[]> =>
  world.panel.get(`/panel/api/clients/groups/${group}/emails`);

export const bulk: Checks = {
  bulkCreateModernClients: async (t, world) => {
    const inbound = await world.panel.addInbound();
    const emails = [newEmail(), newEmail()];
    await world.call(
      'bulkCreateModernClients',
      emails.map((email) => ({ client: { email, totalGB: 1000 }, inboundIds: [inbound] })),
    );
    for (const email of emails)
      t.like(await world.stored(email), { totalGB: 1000, inboundIds: [inbound] as const });
  },
  bulkDeleteModernClients: async (t, world) => {
    const [first = '', second = ''] = await two(world);
    await world.call('bulkDeleteModernClients', { emails: [first] });
    t.deepEqual([await world.isGone(first), await world.isGone(second)], [true, false]);
  },
  bulkAdjustModernClients: async (t, world) => {
    const expiryTime = Date.now() + DAY;
    const [first = '', second = ''] = await two(world, { expiryTime, totalGB: 1000 });
    await world.call('bulkAdjustModernClients', { emails: [first], addDays: 30, addBytes: 24 });
    t.like(await world.stored(first), { expiryTime: expiryTime + 30 * DAY, totalGB: 1024 });
    t.like(await world.stored(second), { expiryTime, totalGB: 1000 });
  },
  bulkAttachModernClients: async (t, world) => {
    const emails = await two(world);
    const inbound = await world.panel.addInbound();
    await world.call('bulkAttachModernClients', { emails, inboundIds: [inbound] });
    for (const email of emails) t.true((await world.stored(email)).inboundIds.includes(inbound));
  },
  bulkDetachModernClients: async (t, world) => {
    const { email, inboundId } = await world.client();
    await world.call('bulkDetachModernClients', { emails: [email], inboundIds: [inboundId] });
    t.deepEqual((await world.stored(email)).inboundIds, []);
  },
  bulkResetTrafficModernClients: async (t, world) => {
    const [first = '', second = ''] = await two(world);
    for (const email of [first, second]) await world.use(email, 1, 2);
    await world.call('bulkResetTrafficModernClients', { emails: [first] });
    t.deepEqual(
      [await world.usage(first), await world.usage(second)],
      [
        [0, 0],
        [1, 2],
      ],
    );
  },
  createGroup: async (t, world) => {
    await world.call('createGroup', { name: 'made' });
    const groups = await world.panel.get<{ name: string }[]>('/panel/api/clients/groups');
    t.true(groups.some(({ name }) => name === 'made'));
  },
  getGroups: async (t, world) => {
    await two(world, { group: 'listed' });
    const groups = await world.call<{ name: string; clientCount: number }[]>('getGroups');
    t.like(
      groups.find(({ name }) => name === 'listed'),
      { clientCount: 2 },
    );
    t.deepEqual(groups, await world.panel.get('/panel/api/clients/groups'));
  },
  getGroupEmails: async (t, world) => {
    const emails = await two(world, { group: 'asked' });
    const found = await world.call<string[]>('getGroupEmails', 'asked');
    t.deepEqual(found.toSorted(), emails.toSorted());
  },
  renameGroup: async (t, world) => {
    const emails = await two(world, { group: 'before' });
    await world.call('renameGroup', { oldName: 'before', newName: 'afterwards' });
    t.deepEqual((await emailsOf(world, 'afterwards')).toSorted(), emails.toSorted());
  },
  deleteGroup: async (t, world) => {
    const { email } = await world.client({ group: 'dropped' });
    await world.call('deleteGroup', { name: 'dropped' });
    t.is((await world.stored(email)).group, '');
    const groups = await world.panel.get<{ name: string }[]>('/panel/api/clients/groups');
    t.false(groups.some(({ name }) => name === 'dropped'));
  },
  bulkAddGroups: async (t, world) => {
    const emails = await two(world);
    await world.call('bulkAddGroups', { emails, group: 'joined' });
    t.deepEqual((await emailsOf(world, 'joined')).toSorted(), emails.toSorted());
  },
  bulkRemoveGroups: async (t, world) => {
    const [first = '', second = ''] = await two(world, { group: 'left' });
    await world.call('bulkRemoveGroups', { emails: [first] });
    t.deepEqual(await emailsOf(world, 'left'), [second]);
    t.is((await world.panel.get<Client>(`/panel/api/clients/get/${first}`)).group, '');
  },
};
