// One client: what it used, and for admins what can be changed.
import type { ClientRow } from '../../clients/contract.js';
import type { Keyboard } from '../api/bot-api.js';
import { button, Declined, type Screen } from '../chat/screen.js';
import type { Turn } from '../chat/turn.js';
import { clientByEmail, clientOf, type Parts, resultOf, running } from './parts.js';
import { clientMore, clientText } from './views.js';

const MOST_DEVICES = 20;

const linkButtons = (turn: Turn, id: number) => [
  button(turn, 'links', 'links', id),
  button(turn, 'qrCodes', 'qr', id),
  button(turn, 'subscription', 'sub', id),
];

function adminKeyboard(turn: Turn, { id, enable, depletedCause }: ClientRow): Keyboard {
  const set = (key: 'traffic' | 'expiry' | 'ipLimit' | 'deviceLimit' | 'messengerId' | 'comment') =>
    button(turn, key, 'set', id, key);
  // A client that a limit holds is enabled by another limit.
  const toggle = enable
    ? [button(turn, 'disable', 'toggle', id, 'off')]
    : depletedCause === null
      ? [button(turn, 'enable', 'toggle', id, 'on')]
      : [];
  return [
    [button(turn, 'refresh', 'client', id), button(turn, 'resetTraffic', 'reset', id)],
    [set('traffic'), set('expiry')],
    [set('ipLimit'), set('deviceLimit')],
    [set('messengerId'), set('comment')],
    [button(turn, 'devices', 'devices', id), ...toggle],
    linkButtons(turn, id),
    [button(turn, 'menu', 'menu')],
  ];
}

export async function showClient(parts: Parts, turn: Turn, row: ClientRow, before = ''): Promise<void> {
  const above = before === '' ? [] : [before, ''];
  if (!turn.isAdmin)
    return turn.show([...above, clientText(parts, turn, row)].join('\n'), [
      [button(turn, 'refresh', 'client', row.id)],
      linkButtons(turn, row.id),
      [button(turn, 'menu', 'menu')],
    ]);
  const text = [...above, clientText(parts, turn, row), clientMore(parts, turn, row)].join('\n');
  await turn.show(text, adminKeyboard(turn, row));
}

/** For admins, and for users whose client it is. */
export const cardScreen = (parts: Parts): Screen => ({
  for: 'client',
  commands: {
    usage: async (turn, rest) => {
      if (rest !== '') return showClient(parts, turn, clientByEmail(parts, turn, rest));
      const own = turn.isAdmin ? [] : parts.owners.of(turn.userId);
      if (own.length === 0) throw new Declined('usageNeedsEmail');
      await turn.say(own.map((row) => `${clientText(parts, turn, row)}\n`));
    },
  },
  actions: { client: (turn, id) => showClient(parts, turn, clientOf(parts, turn, id)) },
});

export const changeScreen = (parts: Parts): Screen => {
  const { edits, devices } = parts;
  const confirm = (turn: Turn, text: string, action: string, id: number) =>
    turn.show(text, [[button(turn, 'yes', action, id), button(turn, 'cancel', 'client', id)]]);
  const again = (turn: Turn, id: string | undefined, before: string) =>
    showClient(parts, turn, clientOf(parts, turn, id), before);
  return {
    for: 'admin',
    actions: {
      reset: (turn, id) => {
        const { email, id: clientId } = clientOf(parts, turn, id);
        return confirm(turn, turn.texts.html('askReset', { email }), 'resetNow', clientId);
      },
      resetNow: async (turn, id) => {
        const { email } = clientOf(parts, turn, id);
        await again(turn, id, resultOf(turn, await edits.resetTraffic([email], turn.who)));
      },
      // The button says what it does, so that pressing it twice does it once.
      toggle: async (turn, id, to) => {
        const { email } = clientOf(parts, turn, id);
        const applied = await edits.update(email, { enable: to === 'on' }, turn.who);
        await again(turn, id, resultOf(turn, applied));
      },
      devices: async (turn, id) => {
        const row = clientOf(parts, turn, id);
        const found = await running(devices, 'devices').list(row.id);
        const lines = found.slice(0, MOST_DEVICES).map(({ deviceModel, deviceOs, userAgent, lastSeen }) =>
          turn.texts.html('device', {
            name: ([deviceModel, deviceOs].filter(Boolean).join(', ') || userAgent).slice(0, 100) || '–',
            seen: turn.texts.moment(lastSeen, turn.zone),
          }),
        );
        const title = turn.texts.html('deviceList', { count: found.length, email: row.email });
        await turn.show([title, ...lines].join('\n'), [
          ...(found.length > 0 ? [[button(turn, 'forgetDevices', 'forget', row.id)]] : []),
          [button(turn, 'back', 'client', row.id)],
        ]);
      },
      forget: (turn, id) => {
        const { email, id: clientId } = clientOf(parts, turn, id);
        return confirm(turn, turn.texts.html('askForget', { email }), 'forgetNow', clientId);
      },
      forgetNow: async (turn, id) => {
        await running(devices, 'devices').forget(clientOf(parts, turn, id), turn.who);
        await again(turn, id, turn.texts.html('done'));
      },
    },
  };
};
