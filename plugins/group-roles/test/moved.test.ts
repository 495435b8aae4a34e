// Runs on every database.
// Between the look at memory and the transaction, the client is moved, the role is changed, or the admin gets another one:
// what the transaction sees counts, and nothing is written.
import test, { type ExecutionContext } from 'ava';
import { definePlugin, type Principal, tap, type Tx } from '../../../kernel/index.js';
import { beforeClientDelete, beforeClientSave } from '../../clients/contract.js';
import type { GroupRole } from '../../roles/contract.js';
import { GroupScopes } from '../scope.js';
import { addGroupAdmin, ADMINS, boot, CLIENTS, type GroupAdmin, OWN, ROLES, type World } from './world.js';

/** What happens between the plan of the next edit of `staff` and its transaction. */
let meanwhile: (() => Promise<unknown>) | undefined;
const gate = async ({ who }: { readonly who: { readonly name: string } }): Promise<void> => {
  if (who.name !== 'staff') return;
  const work = meanwhile;
  meanwhile = undefined;
  await work?.();
};
const plugin = definePlugin({
  name: 'gate',
  version: '0.0.1',
  api: 1,
  about: 'Does something else before a write.',
  taps: () => [tap(beforeClientSave, gate), tap(beforeClientDelete, gate)],
});

type Post = (path: string, body: object) => Promise<unknown>;
interface Scene extends World {
  readonly staff: GroupAdmin;
  readonly ada: number;
  readonly post: Post;
}
async function scene(t: ExecutionContext): Promise<Scene> {
  const world = await boot({ plugins: [plugin] });
  t.teardown(() => world[Symbol.asyncDispose]());
  const ada = await world.add('ada', 'north', { comment: 'as it was' });
  const staff = await addGroupAdmin(world.panel, 'staff', ['north', 'east']);
  return { ...world, ada, staff, post: (path, body) => world.panel.get(path, { body }) };
}

/** Every call that changes a client. */
const EDITS: readonly ((staff: GroupAdmin, id: number) => Promise<string>)[] = [
  (staff, id) => staff.change(id, { comment: 'mine' }),
  (staff, id) => staff.change(id, { group: 'east' }),
  (staff, id) => staff.act(id, 'reset'),
  (staff, id) => staff.act(id, 'renew', { days: 1, reset: true }),
  (staff, id) => staff.act(id, 'del'),
];

test.serial('a client that is moved to another group meanwhile is not changed', async (t) => {
  const { panel, staff, ada, post } = await scene(t);
  for (const edit of EDITS) {
    await post(`${CLIENTS}/groups/bulkAdd`, { emails: ['ada'], group: 'north' });
    meanwhile = () => post(`${CLIENTS}/groups/bulkAdd`, { emails: ['ada'], group: 'south' });
    t.is(await edit(staff, ada), '404 GROUP_ROLES_NO_CLIENT', String(edit));
    const stored = await panel.get<object>(`${CLIENTS}/get/ada`);
    t.like(stored, { group: 'south', comment: 'as it was', expiryTime: 0 }, String(edit));
  }
});

test.serial('nor one that is deleted meanwhile', async (t) => {
  const { panel, staff, post, add } = await scene(t);
  for (const [i, edit] of EDITS.entries()) {
    const email = `grace-${i}`;
    const id = await add(email, 'north');
    meanwhile = () => post(`${CLIENTS}/del/${email}`, {});
    t.is(await edit(staff, id), '404 GROUP_ROLES_NO_CLIENT', String(edit));
    t.is((await panel.call(`${CLIENTS}/get/${email}`)).status, 404);
  }
});

test.serial('one that is moved between groups of the role is changed, and stays there', async (t) => {
  const { panel, staff, ada, post } = await scene(t);
  meanwhile = () => post(`${CLIENTS}/groups/bulkAdd`, { emails: ['ada'], group: 'east' });
  t.is(await staff.change(ada, { comment: 'mine' }), '200');
  t.like(await panel.get<object>(`${CLIENTS}/get/ada`), { group: 'east', comment: 'mine' });
});

test.serial('a role that only reads since then, or names another group, changes nothing', async (t) => {
  const { panel, staff, ada, post, inbound } = await scene(t);
  const add = (of: GroupAdmin) => of.add({ email: 'new', group: 'north', inboundIds: [inbound] });
  const set = (fields: object) => () => post(`${ROLES}/${staff.role}`, fields);
  for (const edit of [...EDITS, add]) {
    meanwhile = set({ level: 'read' });
    t.is(await edit(staff, ada), '403 GROUP_ROLES_READ_ONLY', String(edit));
    await set({ level: 'write' })();
    meanwhile = set({ groups: ['east'] });
    const refused = edit === add ? '403 GROUP_ROLES_NOT_YOUR_GROUP' : '404 GROUP_ROLES_NO_CLIENT';
    t.is(await edit(staff, ada), refused, String(edit));
    await set({ groups: ['north', 'east'] })();
  }
  t.like(await panel.get<object>(`${CLIENTS}/get/ada`), { group: 'north', comment: 'as it was' });
  t.deepEqual(await staff.emails(), ['ada']);
});

test.serial('an admin who has another role since then, or is disabled, changes nothing', async (t) => {
  const { panel, staff, ada, post, inbound } = await scene(t);
  const others = await post(ROLES, { name: 'others', kind: 'groups', groups: ['south'], level: 'write' });
  const { id: other } = others as { id: number };
  const admin = `${ADMINS}/${staff.admin}`;
  const add = (of: GroupAdmin) => of.add({ email: 'new', group: 'north', inboundIds: [inbound] });
  for (const edit of [...EDITS, add]) {
    meanwhile = () => post(admin, { role: other });
    const refused = edit === add ? '403 GROUP_ROLES_NOT_YOUR_GROUP' : '404 GROUP_ROLES_NO_CLIENT';
    t.is(await edit(staff, ada), refused, String(edit));
    await post(admin, { role: staff.role });
  }
  meanwhile = () => post(admin, { enabled: false });
  t.regex(await staff.change(ada, { comment: 'mine' }), /^401/);
  t.like(await panel.get<object>(`${CLIENTS}/get/ada`), { group: 'north', comment: 'as it was' });
});

test.serial('moves and edits at once: each edit is done in the group, or not at all', async (t) => {
  const { panel, staff, ada, post } = await scene(t);
  const move = (group: string) => post(`${CLIENTS}/groups/bulkAdd`, { emails: ['ada'], group });
  const told = await Promise.all(
    Array.from({ length: 40 }, async (_, i) => {
      if (i % 4 === 0) await move(i % 8 === 0 ? 'south' : 'north');
      return staff.change(ada, { comment: `number ${i}` });
    }),
  );
  const codes = new Set(told);
  for (const code of codes) t.true(['200', '404 GROUP_ROLES_NO_CLIENT'].includes(code), code);
  const entries = await panel.get<{ who: string; before: { group?: string } | null }[]>(
    '/panel/api/x/audit/changes?limit=200&area=client&kind=updated',
  );
  const edits = entries.filter(({ who }) => who === 'staff');
  t.is(edits.length, told.filter((one) => one === '200').length, 'each that succeeded is recorded once');
  await move('south');
  t.is(await staff.told(`${OWN}/clients/${ada}`), '404 GROUP_ROLES_NO_CLIENT');
});

test('groups and level are those of the transaction, where memory lacks the write before', async (t) => {
  let stored: GroupRole | undefined = { id: 1, groups: ['south'], level: 'write' };
  const roles = {
    find: (): GroupRole => ({ id: 1, groups: ['north'], level: 'write' }),
    read: async () => stored,
  };
  const needs = { rights: { rolesOf: () => [1] }, roles, clients: {}, pages: {} };
  const scopes = new GroupScopes(needs as unknown as ConstructorParameters<typeof GroupScopes>[0]);
  const toWrite = () => scopes.toWrite({} as Tx, { kind: 'session', name: 'staff' } as Principal);
  t.deepEqual((await toWrite()).groups, ['south']);
  stored = { ...stored, level: 'read' };
  t.like(await t.throwsAsync(toWrite), { code: 'GROUP_ROLES_READ_ONLY' });
  stored = undefined;
  t.like(await t.throwsAsync(toWrite), { code: 'GROUP_ROLES_NO_ROLE' });
});
