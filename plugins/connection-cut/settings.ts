import { bool } from '../../kernel/index.js';
import { setting } from '../settings/contract.js';

export const cutSettings = {
  engineCutConnections: setting(bool(), true, 'open connections of clients that were switched off or deleted are ended, where the transport allows it'),
} as const;
