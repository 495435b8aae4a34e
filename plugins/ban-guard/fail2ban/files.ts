// What fail2ban needs to ban for the panel: for each scope a filter, an action and a jail.
import { join } from 'node:path';
import type { BanPorts, BanScope } from '../contract.js';
import { rulesOf } from '../nftables/table-text.js';
import { FAILREGEX, JAILS, LOG_FOLDER, LOG_NAMES } from './log-lines.js';

/** First line of every file: only such files are replaced or removed. */
export const FAIL2BAN_OWN = '# Written by weir ban-guard. Changes are lost; put your own into a .local file.';

export interface Fail2banFile {
  /** below the folder of fail2ban's configuration */
  readonly path: string;
  readonly text: string;
}

const TABLES: Readonly<Record<BanScope, string>> = { proxy: 'weir_f2b_limit', panel: 'weir_f2b_login' };
const ABOUT: Readonly<Record<BanScope, string>> = {
  proxy: 'addresses of clients over their limitIp: all ports but those of ssh and the panel',
  panel: 'addresses with too many failed logins: the ports of the panel',
};

const filter = (): string => `[Definition]
failregex = ${FAILREGEX}
ignoreregex =
datepattern = ^EPOCH
`;

/** Elements have a time of their own, so a fail2ban that is killed bans nobody for ever. */
function action(scope: BanScope, ports: BanPorts): string {
  const table = TABLES[scope];
  const rules = ['iifname "lo" accept', ...rulesOf(scope, ports, ['addr4', 'addr6'])];
  const element = (seconds: string) => `{ <ip>${seconds} }`;
  const without = `add element inet ${table} <set> ${element(' timeout 60s')}; delete element inet ${table} <set> ${element('')}`;
  return `[Definition]
actionstart = nft 'add table inet ${table}; delete table inet ${table}; add table inet ${table}'
              nft 'add set inet ${table} addr4 { type ipv4_addr; flags timeout; }; add set inet ${table} addr6 { type ipv6_addr; flags timeout; }'
              nft 'add chain inet ${table} input { type filter hook input priority filter - 10; policy accept; }'
${rules.map((rule) => `              nft 'add rule inet ${table} input ${rule}'`).join('\n')}
actionstop = nft 'add table inet ${table}; delete table inet ${table}'
actionflush = nft 'flush set inet ${table} addr4; flush set inet ${table} addr6'
actioncheck = nft list chain inet ${table} input | grep -q drop
actionban = nft '${without}; add element inet ${table} <set> ${element(' timeout <bantime>s')}'
actionunban = nft '${without}'

[Init]
set = addr4

[Init?family=inet6]
set = addr6
`;
}

/** The panel has decided who is banned and who is spared, so the jails ignore nobody. */
const jail = (scope: BanScope, dataDirectory: string): string => `[${JAILS[scope]}]
enabled = true
filter = ${JAILS[scope]}
action = ${JAILS[scope]}
logpath = ${join(dataDirectory, LOG_FOLDER, LOG_NAMES[scope])}
backend = polling
skip_if_nologs = true
usedns = no
maxretry = 1
findtime = 60
bantime = 1800
bantime.increment = false
ignoreip =
ignoreself = false
ignorecommand =
`;

/** @param dataDirectory absolute; a path that fail2ban would read as something else is refused */
export function fail2banFiles(dataDirectory: string, ports: BanPorts): readonly Fail2banFile[] {
  // A space separates paths there, % begins a variable, < a tag, and * ? [ are patterns.
  if (!/^\/[\w./@+:,=~-]*$/.test(dataDirectory))
    throw new Error(
      `fail2ban cannot read logs in ${JSON.stringify(dataDirectory)}; its path may have letters, digits and . _ - / @ + : , = ~ only`,
    );
  const scopes = Object.keys(JAILS) as BanScope[];
  return scopes.flatMap((scope) => {
    const own = (text: string): string => `${FAIL2BAN_OWN}\n# ${ABOUT[scope]}\n\n${text}`;
    return [
      { path: `filter.d/${JAILS[scope]}.conf`, text: own(filter()) },
      { path: `action.d/${JAILS[scope]}.conf`, text: own(action(scope, ports)) },
      { path: `jail.d/${JAILS[scope]}.conf`, text: own(jail(scope, dataDirectory)) },
    ];
  });
}
