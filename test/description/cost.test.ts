// Runs alone: it counts the statements of the whole process.
// What an edit, a poll and a fetch ask of the database is the same with ten clients and with a thousand.
import test from 'ava';
import { Sequelize } from 'sequelize';
import { openWorld } from './world.js';

/** Statements and their bytes, values included. */
const asked = { statements: 0, bytes: 0 };
const { query } = Sequelize.prototype;
test.before(() => {
  Sequelize.prototype.query = function counted(this: Sequelize, ...args: unknown[]) {
    asked.statements++;
    asked.bytes += JSON.stringify(
      [args[0], (args[1] as { replacements?: unknown; bind?: unknown }) ?? {}].map((part) =>
        typeof part === 'object'
          ? [(part as { replacements?: unknown }).replacements, (part as { bind?: unknown }).bind]
          : part,
      ),
    ).length;
    return Reflect.apply(query, this, args) as never;
  } as typeof query;
});
test.after.always(() => {
  Sequelize.prototype.query = query;
});

interface Cost {
  readonly what: string;
  readonly statements: number;
  readonly bytes: number;
}

async function costsWith(count: number): Promise<Cost[]> {
  const { engine, panel, poll } = await openWorld();
  await using _ = panel;
  const [first, second] = [await panel.addInbound(), await panel.addInbound()];
  const client = (i: number) => ({
    client: {
      email: `client-${String(i).padStart(5, '0')}`,
      subId: `sub-${String(i).padStart(5, '0')}`,
      group: 'all',
    },
    inboundIds: [first],
  });
  await panel.get('/panel/api/clients/bulkCreate', {
    body: Array.from({ length: count }, (_, i) => client(i)),
  });
  await panel.get('/panel/api/setting/update', { body: { subPath: '/s/' } });
  await panel.get('/panel/api/hosts/add', { body: { groupId: 'own', inboundIds: [first], remark: 'own' } });
  const email = 'client-00003';
  const { id } = await panel.get<{ id: number }>(`/panel/api/clients/get/${email}`);
  await poll();
  await panel.kernel.settled();

  const costs: Cost[] = [];
  const measure = async (what: string, work: () => Promise<unknown>): Promise<void> => {
    const before = { ...asked };
    await work();
    await panel.kernel.settled();
    costs.push({ what, statements: asked.statements - before.statements, bytes: asked.bytes - before.bytes });
  };
  const clients = '/panel/api/clients';
  const few = ['client-00001', 'client-00002', email];
  const edits: Record<string, [path: string, body: object]> = {
    'a comment': [`${clients}/update/${email}`, { comment: 'paid' }],
    'a quota': [`${clients}/update/${email}`, { totalGB: 5_000_000 }],
    'a credential': [`${clients}/update/${email}`, { uuid: '5783a3e7-e373-51cd-8642-c83782b807c5' }],
    'an attachment': [`${clients}/${email}/attach`, { inboundIds: [second] }],
    'a detachment': [`${clients}/${email}/detach`, { inboundIds: [second] }],
    'a new client': [`${clients}/add`, client(99_999)],
    'a deletion': [`${clients}/del/client-99999`, {}],
    'an adjustment of three': [`${clients}/bulkAdjust`, { emails: few, addDays: 0, addBytes: 1000 }],
    'a reset of three': [`${clients}/bulkResetTraffic`, { emails: few }],
    'an attachment of three': [`${clients}/bulkAttach`, { emails: few, inboundIds: [second] }],
    'a detachment of three': [`${clients}/bulkDetach`, { emails: few, inboundIds: [second] }],
    'a group of three': [`${clients}/groups/bulkAdd`, { emails: few, group: 'some' }],
    'a renamed group of three': [`${clients}/groups/rename`, { oldName: 'some', newName: 'few' }],
    'a remark of the inbound': [`/panel/api/inbounds/update/${first}`, { remark: 'changed' }],
    'a limit of the inbound': [`/panel/api/inbounds/update/${first}`, { total: 5_000_000_000 }],
    'a host': ['/panel/api/hosts/update/own', { remark: 'changed' }],
  };
  for (const [what, [path, body]] of Object.entries(edits))
    await measure(what, () => panel.get(path, { body }));
  engine.move(first, id, 10, 20);
  await measure('a poll in which one client moved bytes', poll);
  await measure('a poll in which nobody did', poll);
  await panel.get(`${clients}/update/${email}`, { body: { totalGB: 25 } });
  engine.move(first, id, 10, 20);
  await measure('a client at its quota', poll);
  for (const path of [
    'clients/list',
    'clients/list/paged',
    'clients/list/paged?search=00003',
    'inbounds/list',
    'inbounds/options',
  ])
    await measure(path, () => panel.get(`/panel/api/${path}`));
  await measure('a fetch of a subscription', () => fetch(`${panel.subscriptionUrl}/s/sub-00001`));
  return costs;
}

test('edits, polls, lists and fetches ask as much of the database with ten clients as with a thousand', async (t) => {
  const [few, many] = [await costsWith(10), await costsWith(1000)];
  t.true(few.length > 20);
  for (const [i, { what, statements, bytes }] of many.entries()) {
    const small = few[i];
    t.log(
      `${what}: ${statements} statements, ${bytes} bytes; with ten clients ${small?.statements}, ${small?.bytes}`,
    );
    t.is(statements, small?.statements ?? -1, what);
    t.true(bytes <= (small?.bytes ?? 0) * 1.2 + 200, `${what}: ${small?.bytes} bytes became ${bytes}`);
  }
});
