// The machine and the core: status, restart, reset of all traffic.
import { messageOf } from '../../../kernel/index.js';
import { button, Declined, type Screen } from '../chat/screen.js';
import type { Turn } from '../chat/turn.js';
import { type Parts, resultOf } from './parts.js';
import { serverText } from './views.js';

export const serverScreen = (parts: Parts): Screen => {
  const { engine, edits, clients, audit } = parts;
  const back = (turn: Turn) => [[button(turn, 'menu', 'menu')]];
  const askRestart = (turn: Turn) =>
    turn.show(turn.texts.html('askRestart'), [
      [button(turn, 'yes', 'restartNow'), button(turn, 'cancel', 'cancel')],
    ]);
  const askReset = async (turn: Turn) => {
    let count = 0;
    for (const _ of clients.all()) count++;
    await turn.show(turn.texts.html('askResetAll', { count }), [
      [button(turn, 'yes', 'resetAllNow'), button(turn, 'cancel', 'cancel')],
    ]);
  };
  return {
    for: 'admin',
    commands: { restart: askRestart, clearall: askReset },
    actions: {
      server: async (turn) =>
        turn.show(await serverText(parts, turn), [
          [button(turn, 'refresh', 'server'), button(turn, 'menu', 'menu')],
        ]),
      restart: askRestart,
      restartNow: async (turn) => {
        await turn.notice('');
        await audit?.act('core', turn.who, { name: 'restart' });
        try {
          await engine.restart('an admin of the bot restarts it');
        } catch (error) {
          // The core rejected the config, or did not start: an admin should read why.
          throw new Declined('failed', { reason: messageOf(error) });
        }
        await turn.show(turn.texts.html('done'), back(turn));
      },
      resetAll: askReset,
      resetAllNow: async (turn) => {
        await turn.notice('');
        await turn.show(resultOf(turn, await edits.resetAllTraffic(turn.who)), back(turn));
      },
    },
  };
};
