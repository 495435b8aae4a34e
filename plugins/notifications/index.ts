import { bool, definePlugin, list, payload, route, shape, singleton, tap, text } from '../../kernel/index.js';
import { BLOCKED, loginAttempted } from '../access/contract.js';
import { alarmChanged } from '../alarms/contract.js';
import { coreStateChanged } from '../engine/contract.js';
import { nodesFlipped } from '../nodes/contract.js';
import { outboundDown, outboundUp } from '../outbounds/contract.js';
import { clientDepleted } from '../traffic/contract.js';
import { Notifier } from './notifier.js';
import { notificationSettings } from './settings.js';
import { alarmText, coreState, depleted, nodesDown, nodesUp, outboundsDown, outboundsUp } from './texts.js';

export default definePlugin({
  name: 'notifications',
  version: '0.1.0',
  api: 1,
  about: 'Sends notifications of events over the channels that other plugins add.',
  settings: notificationSettings,
  services: { notifier: singleton(Notifier) },
  taps: ({ notifier }) => [
    tap(clientDepleted, ({ clients }) => notifier.tell(depleted(clients))),
    tap(coreStateChanged, (change) => notifier.tell(coreState(change))),
    tap(alarmChanged, ({ alarm }) => notifier.tell(alarmText(alarm))),
    tap(loginAttempted, ({ attempts }) => {
      for (const { ip, username, reason } of attempts)
        if (reason === BLOCKED) notifier.loginBlocked(ip, username);
    }),
    tap(outboundDown, ({ outbounds }) => notifier.tell(outboundsDown(outbounds))),
    tap(outboundUp, ({ outbounds }) => notifier.tell(outboundsUp(outbounds))),
    tap(nodesFlipped, ({ flips }) => {
      const down = flips.filter(({ to }) => to === 'offline');
      // A node that answers for the first time is no news to who has just added it.
      const up = flips.filter(({ from, to }) => from === 'offline' && to === 'online');
      if (down.length > 0) notifier.tell(nodesDown(down));
      if (up.length > 0) notifier.tell(nodesUp(up));
    }),
  ],
  routes: ({ notifier }) => [
    route({
      method: 'POST',
      path: '/panel/api/notifications/test',
      name: 'notifications.test',
      doc: 'Sends one test notification over every enabled channel and returns the results.',
      reply: payload(list(shape({ channel: text(), plugin: text(), delivered: bool(), reason: text() }))),
      handle: () => notifier.test(),
    }),
  ],
  start: ({ notifier }) => notifier.start(),
});
