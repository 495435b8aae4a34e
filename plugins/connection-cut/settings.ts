import { bool, setting } from '../../kernel/index.js';

export const cutSettings = {
  engineCutConnections: setting(
    bool(),
    true,
    'open connections of clients that were switched off or deleted are ended, where the transport allows it',
  ),
  engineReplaceUdpInbounds: setting(
    bool(),
    false,
    'an inbound that serves UDP is taken out and put back when a client is removed from it; that ends what goes over UDP for everybody on it',
  ),
  engineRestartToCut: setting(
    bool(),
    false,
    'the core is restarted, once a minute at most, when a removed client has connections that cannot be ended otherwise; that ends everything for everybody',
  ),
} as const;
