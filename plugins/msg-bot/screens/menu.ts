// The first thing that a user sees.
import type { Keyboard } from '../api/bot-api.js';
import { button, type Screen } from '../chat/screen.js';
import type { Turn } from '../chat/turn.js';
import type { Parts } from './parts.js';

export const adminMenu = (turn: Turn): Keyboard => [
  [button(turn, 'server', 'server'), button(turn, 'report', 'report')],
  [button(turn, 'inbounds', 'inbounds'), button(turn, 'online', 'online')],
  [button(turn, 'depleting', 'ending'), button(turn, 'addClient', 'add')],
  [button(turn, 'backup', 'backup'), button(turn, 'resetAll', 'resetAll')],
  [button(turn, 'restart', 'restart')],
];

export const adminScreen = ({ dialogs }: Parts): Screen => {
  const menu = async (turn: Turn) => {
    await dialogs.close(turn.userId);
    await turn.show(turn.texts.html('welcome'), adminMenu(turn));
  };
  const cancel = async (turn: Turn) => {
    await dialogs.close(turn.userId);
    await turn.show(turn.texts.html('cancelled'), [[button(turn, 'menu', 'menu')]]);
  };
  return {
    for: 'admin',
    commands: {
      start: menu,
      help: (turn) => turn.say([turn.texts.html('helpAdmin')]),
      status: (turn) => turn.say([turn.texts.html('alive')]),
      cancel,
    },
    actions: { menu, cancel },
  };
};

export const clientScreen = ({ owners }: Parts): Screen => {
  const menu = async (turn: Turn) => {
    const rows = owners.of(turn.userId);
    const buttons = rows.map(({ id, email }) => [{ text: email, data: `client:${id}` }]);
    await turn.show(turn.texts.html('welcomeClient', { count: rows.length }), buttons);
  };
  return {
    for: 'client',
    commands: {
      start: menu,
      help: (turn) => turn.say([turn.texts.html('helpClient')]),
      status: (turn) => turn.say([turn.texts.html('alive')]),
    },
    actions: { menu },
  };
};
