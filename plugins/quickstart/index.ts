// First-run command: creates one inbound and one client, and prints what a phone needs to scan.
import { command, definePlugin, optional, singleton, text, withDefault, word } from '../../kernel/index.js';
import { ClientEdits, Clients } from '../clients/contract.js';
import { InboundEdits } from '../inbounds/contract.js';
import { Subscription } from '../subscription/contract.js';
import { Quickstart } from './quickstart.js';

export default definePlugin({
  name: 'quickstart',
  version: '0.1.0',
  api: 1,
  about: 'Creates a first inbound and client from the command line.',
  uses: { inbounds: InboundEdits, edits: ClientEdits, clients: Clients, subscription: Subscription },
  services: { quickstart: singleton(Quickstart) },
  commands: ({ quickstart }) => [
    command({
      name: 'quickstart',
      about:
        'Creates one inbound (VLESS with REALITY on a free port) and one client, and prints link, subscription and QR code. Run it again to print them again.',
      fresh: true,
      options: {
        email: withDefault(word().description('name of the client'), 'first'),
        host: optional(
          text().hostname().description('host name or address of this machine for client programs'),
        ),
        target: withDefault(
          word()
            .pattern(/^[^\s:]+$/, 'host name')
            .description(
              'site that the inbound shows to callers without a key: with TLS 1.3 and HTTP/2, not behind a CDN',
            ),
          'www.microsoft.com',
        ),
      },
      example: 'weir quickstart --email ada --host vpn.example.com',
      run: ({ options, who, say }) => quickstart.run(options, who, say),
    }),
  ],
});
