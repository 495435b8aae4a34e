// Adds a client step by step. The draft is part of the dialog of the admin who makes it.
import { randomBytes } from 'node:crypto';
import { inspect, int, list, shape, type Static, text, word } from '../../../kernel/index.js';
import type { ClientRow } from '../../clients/contract.js';
import { button, Declined, type Screen } from '../chat/screen.js';
import type { Turn } from '../chat/turn.js';
import { showClient } from './client-card.js';
import { choicesOf } from './client-fields.js';
import { type ClientField, EMAIL_FIELD, fieldOf } from './fields.js';
import { inboundNames, amount, expiry, limit } from './views.js';
import { inboundOf, type Parts, resultOf } from './parts.js';

const STEP = 'draft';
const MOST_INBOUNDS = 60;

const Draft = shape({
  email: word().max(255),
  comment: text().max(500),
  totalGB: int().min(0),
  expiryTime: int(),
  limitIp: int().min(0),
  limitHwid: int().min(0),
  tgId: int().min(0),
  inboundIds: list(int().min(1)).max(1_000),
  /** the field that a text answers; blank: none */
  asked: text().max(32),
});
type Draft = Static<typeof Draft>;

const fieldNamed = (name: string | undefined): ClientField =>
  name === 'email' ? EMAIL_FIELD : fieldOf(name);
const newDraft = (): Draft => ({
  email: randomBytes(6).toString('base64url').replaceAll(/[-_]/g, 'x').toLowerCase(),
  comment: '',
  totalGB: 0,
  expiryTime: 0,
  limitIp: 0,
  limitHwid: 0,
  tgId: 0,
  inboundIds: [],
  asked: '',
});

export const addScreen = (parts: Parts): Screen => {
  const { dialogs, inbounds, edits, clients, clock } = parts;
  const read = (data: unknown): Draft => {
    const found = inspect(Draft, data);
    if ('issues' in found) throw new Declined('stopped');
    return found.value as Draft;
  };
  const draftOf = async (turn: Turn): Promise<Draft> => {
    const dialog = await dialogs.of(turn.userId);
    if (dialog === undefined || dialog === 'expired' || dialog.step !== STEP) throw new Declined('stopped');
    return read(dialog.data);
  };
  const keep = (turn: Turn, draft: Draft) => dialogs.open(turn.userId, { step: STEP, data: draft });
  const field = (
    turn: Turn,
    key: 'email' | 'comment' | 'messengerId' | 'traffic' | 'expiry' | 'ipLimit' | 'deviceLimit',
  ) => button(turn, key, 'draft', key);
  const show = async (turn: Turn, draft: Draft) => {
    const { texts } = turn;
    const shown = texts.html('draft', {
      email: draft.email,
      total: amount(texts, draft.totalGB),
      expiry: expiry(turn, draft.expiryTime),
      ips: limit(texts, draft.limitIp),
      devices: limit(texts, draft.limitHwid),
      messenger: draft.tgId === 0 ? '–' : String(draft.tgId),
      comment: draft.comment || '–',
      inbounds: inboundNames(parts, draft.inboundIds),
    });
    await turn.show(shown, [
      [field(turn, 'email'), field(turn, 'comment')],
      [field(turn, 'traffic'), field(turn, 'expiry')],
      [field(turn, 'ipLimit'), field(turn, 'deviceLimit')],
      [field(turn, 'messengerId'), button(turn, 'inbounds', 'draftInbounds')],
      [button(turn, 'create', 'draftCreate', 'on'), button(turn, 'createDisabled', 'draftCreate', 'off')],
      [button(turn, 'cancel', 'cancel')],
    ]);
  };
  const put = async (turn: Turn, name: string | undefined, value: string) => {
    const draft = { ...(await draftOf(turn)), ...fieldNamed(name).read(value, clock.now()), asked: '' };
    await keep(turn, draft);
    await show(turn, draft);
  };
  const pick = async (turn: Turn, draft: Draft) => {
    const usable = inbounds.list().filter(({ id }) => inbounds.clientless(id) === undefined);
    const picked = new Set(draft.inboundIds);
    await turn.show(turn.texts.html('pickInbounds'), [
      ...usable.slice(0, MOST_INBOUNDS).map(({ id, remark, port }) => [
        {
          text: `${picked.has(id) ? '☑️' : '⬜️'} ${remark || id} (${port})`,
          // The button says what it does, so that pressing it twice does it once.
          data: `draftInbound:${id}:${picked.has(id) ? 'off' : 'on'}`,
        },
      ]),
      [button(turn, 'back', 'draftShow')],
    ]);
  };
  return {
    for: 'admin',
    actions: {
      add: async (turn) => {
        const draft = newDraft();
        await keep(turn, draft);
        await show(turn, draft);
      },
      draftShow: async (turn) => show(turn, await draftOf(turn)),
      draft: async (turn, name) => {
        const asked = fieldNamed(name);
        const draft = await draftOf(turn);
        await keep(turn, { ...draft, asked: String(name) });
        await turn.show(turn.texts.html(asked.ask), [
          ...choicesOf(turn, asked, 'draftPut', String(name)),
          [button(turn, 'back', 'draftShow')],
        ]);
      },
      draftPut: (turn, name, value = '') => put(turn, name, value),
      draftInbounds: async (turn) => pick(turn, await draftOf(turn)),
      draftInbound: async (turn, id, to) => {
        const inbound = inboundOf(parts, id);
        const draft = await draftOf(turn);
        const others = draft.inboundIds.filter((other) => other !== inbound.id);
        const next = { ...draft, inboundIds: to === 'on' ? [...others, inbound.id] : others };
        await keep(turn, next);
        await pick(turn, next);
      },
      draftCreate: async (turn, to) => {
        const { asked: _, inboundIds, ...client } = await draftOf(turn);
        if (inboundIds.length === 0) throw new Declined('noInboundsPicked');
        const applied = await edits.add(
          { client: { ...client, enable: to !== 'off' }, inboundIds },
          turn.who,
        );
        await dialogs.close(turn.userId);
        const row = clients.byEmail(client.email) as ClientRow;
        const created = turn.texts.html('created', { email: client.email });
        await showClient(parts, turn, row, applied.pending ? resultOf(turn, applied) : created);
      },
    },
    steps: {
      [STEP]: async (turn, typed, data) => {
        const { asked } = read(data);
        if (asked === '') throw new Declined('noQuestion');
        await put(turn, asked, typed);
      },
    },
  };
};
