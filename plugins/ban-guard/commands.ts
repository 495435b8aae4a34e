import { bool, command, type Command, optional, Refusal, word } from '../../kernel/index.js';
import type { Enforcer } from './enforcer.js';
import type { Fail2banDriver } from './fail2ban/driver.js';
import type { HandBans } from './hand-bans.js';

export const commands = ({
  handBans,
  enforcer,
  fail2ban,
}: {
  readonly handBans: HandBans;
  readonly enforcer: Enforcer;
  readonly fail2ban: Fail2banDriver;
}): Command[] => [
  command({
    name: 'ban-guard unban',
    about: 'Ends the bans of an address, or all bans.',
    options: {
      address: optional(word().max(64).description('an address; of IPv6, any of its /64')),
      all: optional(bool().description('end all bans')),
    },
    example: 'weir ban-guard unban --address 198.51.100.7',
    run: async ({ options: { address, all = false }, who, say }) => {
      if ((address === undefined) === !all) throw new Refusal('give either --address or --all');
      const ended =
        address === undefined ? await handBans.unbanAll(who) : await handBans.unban(address, undefined, who);
      say(`${ended.length} bans ended`);
    },
  }),
  command({
    name: 'ban-guard ports',
    about:
      'Shows, as JSON, the ports that bans leave open, and those that a ban from the panel closes. Makes the log files that fail2ban reads.',
    example: 'weir ban-guard ports',
    run: async ({ say }) => {
      await fail2ban.makeLogs();
      say(JSON.stringify(await enforcer.ports()));
    },
  }),
];
