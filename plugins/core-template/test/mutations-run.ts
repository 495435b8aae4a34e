// Sends broken templates to a panel with a real core, and sees that the core runs on.
import type { ExecutionContext } from 'ava';
import { connect, engineOf, openPanel, openServer } from '../../../test/engine/user.js';
import { mutated, numbersFrom, richTemplate } from './mutations.js';

export async function sendMutations(t: ExecutionContext, count: number, seed: number): Promise<void> {
  const panel = await openPanel(t);
  const server = await openServer(t);
  const inbound = await panel.addInbound();
  await panel.addClient('a', [inbound]);
  const user = await connect(t, panel, 'a', server);
  const send = (template: object) =>
    panel.call('/panel/api/engine/update', { body: { engineSetting: template } });
  t.is((await send(richTemplate)).status, 200);
  t.true(await user.served());
  const number = numbersFrom(seed);
  const seen = new Map<number, number>();
  for (let sent = 0; sent < count; sent++) {
    const template = mutated(richTemplate, number);
    const { status, text } = await send(template);
    seen.set(status, (seen.get(status) ?? 0) + 1);
    const told = `${text.slice(0, 300)} for ${JSON.stringify(template)}`;
    t.true([200, 400, 422].includes(status), told);
    t.is((await engineOf(panel)).state, 'running', told);
  }
  t.log(`answers of ${count} templates: ${JSON.stringify([...seen])}`);
  t.is((await send(richTemplate)).status, 200);
  await panel.until(() => user.served(), 'the good template serves its users again', 30_000);
}
