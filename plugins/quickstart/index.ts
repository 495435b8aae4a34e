// The command line as a first face: one inbound, one client, and what a phone needs to scan.
import { command, definePlugin, optional, singleton, text, withDefault, word } from '../../kernel/index.js';
import { ClientEdits, Clients } from '../clients/contract.js';
import { InboundEdits } from '../inbounds/contract.js';
import { Subscription } from '../subscription/contract.js';
import { Quickstart } from './quickstart.js';

export default definePlugin({
  name: 'quickstart',
  version: '0.1.0',
  api: 1,
  about: 'Makes a first inbound and client from the command line.',
  uses: { inbounds: InboundEdits, edits: ClientEdits, clients: Clients, subscription: Subscription },
  services: { quickstart: singleton(Quickstart) },
  commands: ({ quickstart }) => [
    command({
      name: 'quickstart',
      about:
        'Makes one inbound (VLESS with REALITY on a free port) and one client, and prints link, subscription and QR code; run again, it shows them again.',
      fresh: true,
      options: {
        email: withDefault(word().description('name of the client'), 'first'),
        host: optional(
          text().hostname().description('name or address under which client programs reach this machine'),
        ),
        target: withDefault(
          word()
            .pattern(/^[^\s:]+$/, 'host name')
            .description('site whose TLS the inbound shows to strangers: TLS 1.3, HTTP/2, not behind a CDN'),
          'www.microsoft.com',
        ),
      },
      example: 'weir quickstart --email ada --host vpn.example.com',
      run: ({ options, who, say }) => quickstart.run(options, who, say),
    }),
  ],
});
