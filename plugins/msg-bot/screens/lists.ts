// Lists: inbounds and their clients, who is online, whose limits end soon.
import { TimeSlice } from '../../../kernel/index.js';
import type { ClientRow } from '../../clients/contract.js';
import type { Button, Keyboard } from '../api/bot-api.js';
import { button, Declined, type Screen } from '../chat/screen.js';
import type { Turn } from '../chat/turn.js';
import { endingClients } from './ending.js';
import { inboundOf, type Parts } from './parts.js';
import { inboundText } from './views.js';

const PAGE = 20;
const MOST_INBOUNDS = 90;

const rowsOf = (buttons: readonly Button[]): Keyboard =>
  buttons.flatMap((_, i) => (i % 2 === 0 ? [buttons.slice(i, i + 2)] : []));
const clientButtons = (rows: readonly Pick<ClientRow, 'id' | 'email'>[]): Keyboard =>
  rowsOf(rows.map(({ id, email }) => ({ text: email, data: `client:${id}` })));

/** Ids of the clients of an inbound: one pass over all clients, in which others have their turn. */
async function clientsOf({ clients }: Parts, inboundId: number): Promise<number[]> {
  const ids: number[] = [];
  for (const { id } of clients.all()) ids.push(id);
  const slice = new TimeSlice();
  const found: number[] = [];
  for (const id of ids) {
    if (slice.isOver) await slice.next();
    if (clients.byId(id)?.inboundIds.includes(inboundId)) found.push(id);
  }
  return found;
}

export const listScreen = (parts: Parts): Screen => {
  const { clients, inbounds, presence } = parts;
  const rowsById = (ids: readonly number[]) =>
    ids.flatMap((id) => {
      const row = clients.byId(id);
      return row ? [row] : [];
    });
  const inbound = async (turn: Turn, id?: string, wanted = '1') => {
    const shown = inboundOf(parts, id);
    const ids = await clientsOf(parts, shown.id);
    const pages = Math.max(1, Math.ceil(ids.length / PAGE));
    const page = Math.min(Math.max(Number.parseInt(wanted, 10) || 1, 1), pages);
    const rows = rowsById(ids.slice((page - 1) * PAGE, page * PAGE));
    const text = [
      inboundText(parts, turn, shown, ids.length),
      turn.texts.html('clientList', { count: ids.length, page, pages }),
    ];
    const steps = [
      ...(page > 1 ? [button(turn, 'previous', 'inbound', shown.id, page - 1)] : []),
      ...(page < pages ? [button(turn, 'next', 'inbound', shown.id, page + 1)] : []),
    ];
    await turn.show(text.join('\n\n'), [
      ...clientButtons(rows),
      ...(steps.length > 0 ? [steps] : []),
      [button(turn, 'refresh', 'inbound', shown.id, page), button(turn, 'back', 'inbounds')],
    ]);
  };
  return {
    for: 'admin',
    commands: {
      inbound: async (turn, rest) => {
        if (rest === '') throw new Declined('inboundNeedsRemark');
        const named = inbounds.list().find(({ remark }) => remark.toLowerCase() === rest.toLowerCase());
        if (!named) throw new Declined('noInbound');
        await inbound(turn, String(named.id));
      },
    },
    actions: {
      inbound,
      inbounds: async (turn) => {
        const all = inbounds.list();
        const buttons = all.slice(0, MOST_INBOUNDS).map(({ id, remark, port, enable }) => ({
          text: `${enable ? '🟢' : '⚪️'} ${remark || id} (${port})`,
          data: `inbound:${id}`,
        }));
        const more = all.length - buttons.length;
        const text = [
          turn.texts.html('inboundList', { count: all.length }),
          ...(more > 0 ? [turn.texts.html('more', { count: more })] : []),
        ];
        await turn.show(text.join('\n'), [...rowsOf(buttons), [button(turn, 'menu', 'menu')]]);
      },
      online: async (turn) => {
        const ids = presence?.online() ?? [];
        const rows = rowsById(ids.slice(0, PAGE * 2));
        const more = ids.length - rows.length;
        const text = [
          turn.texts.html('onlineList', { count: ids.length }),
          ...(more > 0 ? [turn.texts.html('more', { count: more })] : []),
        ];
        await turn.show(text.join('\n'), [
          ...clientButtons(rows),
          [button(turn, 'refresh', 'online'), button(turn, 'menu', 'menu')],
        ]);
      },
      ending: async (turn) => {
        const { count, rows } = await endingClients(parts, PAGE * 2);
        const more = count - rows.length;
        const text = [
          turn.texts.html('depletingList', { count }),
          ...(more > 0 ? [turn.texts.html('more', { count: more })] : []),
        ];
        await turn.show(text.join('\n'), [
          ...clientButtons(rows),
          [button(turn, 'refresh', 'ending'), button(turn, 'menu', 'menu')],
        ]);
      },
    },
  };
};
