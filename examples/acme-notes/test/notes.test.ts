import test from 'ava';
import { FakeEngine, TestPanel } from '@weir-panel/weir/testing';
import plugin from '../index.js';

interface Note {
  readonly id: number;
  readonly body: string;
  readonly version: string;
}
const PATH = '/panel/api/x/acme-notes/notes';

test('of two edits of one version one wins, and what was done is undone', async (t) => {
  await using panel = await TestPanel.boot({ plugins: [new FakeEngine().plugin], outside: [plugin] });
  const note = await panel.get<Note>(PATH, { body: { title: 'Milk', body: 'is out' } });
  const edit = (body: string, version: string) =>
    panel.call<{ current: Note; version: string }>(`${PATH}/${note.id}`, {
      body: { body },
      headers: { 'if-match': `"${version}"` },
    });
  const answers = await Promise.all(['is there', 'is sour'].map((body) => edit(body, note.version)));
  t.deepEqual(answers.map(({ status }) => status).sort(), [200, 409]);
  const lost = answers.find(({ status }) => status === 409);
  const now = await panel.get<Note>(`${PATH}/${note.id}`);
  t.deepEqual(lost?.body.obj, { current: now, version: now.version });

  const undo = async () => {
    const [{ entry }] = await panel.get<[{ entry: number }]>('/panel/api/x/audit/changes?area=note&limit=1');
    return panel.call(`/panel/api/x/audit/${entry}/undo`, { method: 'POST' });
  };
  t.is((await undo()).status, 200);
  t.deepEqual(await panel.get<Note>(`${PATH}/${note.id}`), note);
  await panel.get(`${PATH}/${note.id}`, { method: 'DELETE' });
  t.is((await undo()).status, 200);
  t.deepEqual(await panel.get<Note>(`${PATH}/${note.id}`), note);
  t.deepEqual(panel.faults, []);
});
