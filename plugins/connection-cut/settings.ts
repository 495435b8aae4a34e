import { bool, setting, inSection } from '../../kernel/index.js';

export const cutSettings = inSection(
  'Connections of removed clients',
  {
    engineCutConnections: setting(
      bool(),
      true,
      'closes the open connections of disabled and deleted clients, where the transport allows it',
      { level: 'basic' },
    ),
    engineReplaceUdpInbounds: setting(
      bool(),
      false,
      'replaces an inbound that serves UDP when a client is removed from it; that closes the UDP sessions of everybody on it',
    ),
    engineRestartToCut: setting(
      bool(),
      false,
      'restarts the core, at most once a minute, when a removed client has connections that cannot be closed otherwise; that closes all connections of everybody',
    ),
  },
  { level: 'advanced' },
);
