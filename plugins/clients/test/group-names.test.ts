// A group has one name, however it comes to be.
import test from 'ava';
import { FakeEngine, TestPanel } from '../../../test/harness/index.js';

test('blanks around the group of a client are no part of its name, so that its routes reach it', async (t) => {
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin] });
  const inboundIds = [await panel.addInbound()];
  await panel.addClient('added', inboundIds, { group: ' family ' });
  await panel.addClient('updated', inboundIds, { group: ' ' });
  t.is((await panel.get<{ group: string }>('/panel/api/clients/get/updated')).group, '');
  await panel.get('/panel/api/clients/update/updated', { body: { group: 'family ' } });
  t.deepEqual(await panel.get('/panel/api/clients/groups/family/emails'), ['added', 'updated']);
  t.deepEqual(
    await panel.get('/panel/api/clients/groups/rename', {
      body: { oldName: ' family', newName: 'relatives ' },
    }),
    { affected: 2 },
  );
  t.deepEqual(await panel.get('/panel/api/clients/groups/relatives/emails'), ['added', 'updated']);
});
