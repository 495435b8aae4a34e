// Changes a field of a client: by a button with a value, or by a value that is typed.
import type { Button, Keyboard } from '../api/bot-api.js';
import { button, type Screen } from '../chat/screen.js';
import type { Turn } from '../chat/turn.js';
import { showClient } from './client-card.js';
import { type ClientField, fieldOf } from './fields.js';
import { clientOf, type Parts, resultOf } from './parts.js';

const STEP = 'field';

/** Buttons with the values of a field, three in a row. */
export function choicesOf(
  turn: Turn,
  { choices, choice }: ClientField,
  ...data: readonly (string | number)[]
): Keyboard {
  const buttons = choices.map(
    (value): Button => ({ text: choice(turn.texts, value), data: [...data, value].join(':') }),
  );
  return buttons.flatMap((_, i) => (i % 3 === 0 ? [buttons.slice(i, i + 3)] : []));
}

export const fieldScreen = (parts: Parts): Screen => {
  const { dialogs, edits, clock } = parts;
  const ask = async (turn: Turn, id?: string, name?: string) => {
    const row = clientOf(parts, turn, id);
    const field = fieldOf(name);
    await dialogs.open(turn.userId, { step: STEP, data: { client: String(row.id), field: String(name) } });
    await turn.show(turn.texts.html(field.ask), [[button(turn, 'cancel', 'leave', row.id)]]);
  };
  const save = async (turn: Turn, id: string | undefined, name: string | undefined, value: string) => {
    const { email } = clientOf(parts, turn, id);
    const change = fieldOf(name).read(value, clock.now());
    const applied = await edits.update(email, change, turn.who);
    await dialogs.close(turn.userId);
    await showClient(parts, turn, clientOf(parts, turn, id), resultOf(turn, applied));
  };
  return {
    for: 'admin',
    actions: {
      set: async (turn, id, name) => {
        const field = fieldOf(name);
        if (field.choices.length === 0) return ask(turn, id, name);
        const row = clientOf(parts, turn, id);
        await turn.show(turn.texts.html('askChoice', { email: row.email }), [
          ...choicesOf(turn, field, 'put', row.id, String(name)),
          [button(turn, 'other', 'ask', row.id, String(name)), button(turn, 'cancel', 'client', row.id)],
        ]);
      },
      ask,
      put: (turn, id, name, value = '') => save(turn, id, name, value),
      leave: async (turn, id) => {
        await dialogs.close(turn.userId);
        await showClient(parts, turn, clientOf(parts, turn, id), turn.texts.html('cancelled'));
      },
    },
    steps: {
      [STEP]: (turn, text, { client, field }) => save(turn, String(client), String(field), text),
    },
  };
};
