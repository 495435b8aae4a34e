// All screens of the bot. Those of admins come first: a user who is an admin sees them in place of those of clients.
import type { Clock, Log } from '../../../kernel/index.js';
import { reportScreen } from '../report/report.js';
import { addScreen } from '../screens/add-client.js';
import { backupScreen } from '../screens/backups.js';
import { cardScreen, changeScreen } from '../screens/client-card.js';
import { fieldScreen } from '../screens/client-fields.js';
import { linkScreen } from '../screens/links.js';
import { listScreen } from '../screens/lists.js';
import { adminScreen, clientScreen } from '../screens/menu.js';
import type { Parts } from '../screens/parts.js';
import { serverScreen } from '../screens/server.js';
import type { BotUpdate } from '../api/update.js';
import { type Audience, Dispatcher } from './dispatcher.js';
import type { Turn } from './turn.js';

const SCREENS = [
  adminScreen,
  serverScreen,
  listScreen,
  changeScreen,
  fieldScreen,
  addScreen,
  backupScreen,
  reportScreen,
  clientScreen,
  cardScreen,
  linkScreen,
] as const;

export class Screens {
  readonly parts: Parts;
  readonly #dispatcher: Dispatcher;

  constructor(needs: Parts & { readonly clock: Clock; readonly log: Log }) {
    const { clients, edits, inbounds, engine, presence, subscription, devices, backups, status, audit } =
      needs;
    const { allSettings, owners, dialogs, clock, log } = needs;
    this.parts = {
      clients,
      edits,
      inbounds,
      engine,
      presence,
      subscription,
      devices,
      backups,
      status,
      audit,
      allSettings,
      owners,
      dialogs,
      clock,
    };
    this.#dispatcher = new Dispatcher(
      SCREENS.map((screen) => screen(this.parts)),
      dialogs,
      log,
    );
  }

  handle(turn: Turn, update: BotUpdate, audience: Audience): Promise<void> {
    return this.#dispatcher.handle(turn, update, audience);
  }
}
