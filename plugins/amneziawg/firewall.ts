// The table of nftables of one inbound: what clients reach, translation of addresses, forwarded ports.
import { isIP, isIPv4 } from 'node:net';
import { PRIVATE_RANGES } from '../core-guard/contract.js';
import { elementsOf, type ForwardedPort } from './forwarded-ports.js';
import { interfaceOf } from './interface.js';
import { prefixV6Of, type ServerBlock, serverV6, subnetOf, textIn } from './server-block.js';

export interface TableOptions {
  readonly inboundId: number;
  readonly server: ServerBlock;
  /** where the inbound listens */
  readonly listen: string;
  readonly port: number;
  /** whether clients may reach loopback and private addresses */
  readonly openPrivate: boolean;
  /** ports of the panel itself, which clients must not reach on a public address either */
  readonly panelPorts: readonly number[];
  readonly forwarded: readonly ForwardedPort[];
  /** tells apart the tables of several panels */
  readonly panel: string;
}

export const tableOf = (panel: string, inboundId: number): string =>
  `weir_${panel}_${interfaceOf(inboundId)}`;

const map = (name: string, type: string, elements: string): string[] => [
  `  map ${name} { type inet_service : ${type}; flags interval;${elements ? ` elements = { ${elements} }` : ''} }`,
];
const set = (name: string, type: string, ranges: readonly string[]): string =>
  `  set ${name} { type ${type}; flags interval; auto-merge; elements = { ${ranges.join(', ')} } }`;
const isV4Range = (range: string): boolean => isIPv4(range.split('/')[0] ?? '');

/** The name of an interface stands between quotes, and has none itself. */
const nameIn = (server: ServerBlock, field: string): string => {
  const name = textIn(server, field);
  if (!/^[A-Za-z0-9_.@:-]{0,15}$/.test(name))
    throw new Error(`server.${field} is not the name of an interface`);
  return name;
};

/** By which interfaces clients go out; without a name by all but the tunnel. */
function translation(device: string, server: ServerBlock): string[] {
  const [v4, v6] = [nameIn(server, 'externalInterface'), nameIn(server, 'ipv6ExternalInterface')];
  const out = (name: string): string => (name ? `oifname "${name}"` : `oifname != "${device}"`);
  return [
    `    iifname "${device}" meta nfproto ipv4 ${out(v4)} masquerade`,
    `    iifname "${device}" meta nfproto ipv6 ${out(v6 || v4)} masquerade`,
  ];
}
/** Packets that would leave with the addresses of the tunnel go nowhere. */
function wayOut(server: ServerBlock): string[] {
  const [v4, v6] = [nameIn(server, 'externalInterface'), nameIn(server, 'ipv6ExternalInterface')];
  return [
    ...(v4 ? [`    meta nfproto ipv4 oifname != "${v4}" drop`] : []),
    ...(v6 || v4 ? [`    meta nfproto ipv6 oifname != "${v6 || v4}" drop`] : []),
  ];
}

/** Where the inbound listens on one address, the program still listens on all. */
function listenRule({ listen, port }: TableOptions): string[] {
  if (listen === '' || listen === '0.0.0.0' || listen === '::') return [];
  if (isIP(listen) === 0) throw new Error(`listen is ${JSON.stringify(listen)}, which is not an address`);
  const family = isIPv4(listen) ? 'ip' : 'ip6';
  return [
    `    udp dport ${port} meta nfproto ${family === 'ip' ? 'ipv6' : 'ipv4'} drop`,
    `    udp dport ${port} ${family} daddr != ${listen} drop`,
  ];
}

/** Returns the commands that replace the table at once. */
export function tableText(options: TableOptions): string {
  const { inboundId, server, openPrivate, panelPorts, forwarded, panel } = options;
  const device = interfaceOf(inboundId);
  const name = tableOf(panel, inboundId);
  const isPrivate = ['    ip daddr @private4 drop', '    ip6 daddr @private6 drop'];
  const hasV6 = prefixV6Of(server) !== undefined;
  const [own4, own6] = [subnetOf(server).address, serverV6(server)?.split('/')[0]];
  const entry = nameIn(server, 'externalInterface');
  const lines = [
    set('private4', 'ipv4_addr', PRIVATE_RANGES.filter(isV4Range)),
    set(
      'private6',
      'ipv6_addr',
      PRIVATE_RANGES.filter((range) => !isV4Range(range)),
    ),
    ...map('ports4', 'ipv4_addr', elementsOf(forwarded, 'v4')),
    ...map('ports6', 'ipv6_addr', elementsOf(forwarded, 'v6')),
    '  chain source {',
    '    type filter hook prerouting priority raw; policy accept;',
    // A client whose networks are not routed to it could use an address of this machine's network.
    `    iifname "${device}" fib saddr . iif oif missing drop`,
    '  }',
    '  chain ports {',
    '    type nat hook prerouting priority dstnat; policy accept;',
    `    ${entry ? `iifname != "${entry}"` : `iifname "${device}"`} return`,
    '    fib daddr type != local return',
    // A port on which this machine itself listens, such as that of its SSH, stays its own.
    '    meta l4proto { tcp, udp } socket wildcard { 0, 1 } return',
    '    meta nfproto ipv4 dnat ip to tcp dport map @ports4',
    '    meta nfproto ipv4 dnat ip to udp dport map @ports4',
    '    meta nfproto ipv6 dnat ip6 to tcp dport map @ports6',
    '    meta nfproto ipv6 dnat ip6 to udp dport map @ports6',
    '  }',
    '  chain forward {',
    '    type filter hook forward priority filter; policy accept;',
    `    iifname "${device}" jump from_clients`,
    `    oifname "${device}" jump to_clients`,
    '  }',
    '  chain from_clients {',
    '    tcp flags syn tcp option maxseg size set rt mtu',
    // Clients of one inbound do not reach each other.
    `    oifname "${device}" drop`,
    ...(hasV6 ? [] : ['    meta nfproto ipv6 drop']),
    '    ct state established,related accept',
    ...(openPrivate ? [] : isPrivate),
    ...wayOut(server),
    '  }',
    '  chain to_clients {',
    '    tcp flags syn tcp option maxseg size set rt mtu',
    '    ct state established,related accept',
    '    ct status dnat accept',
    '    drop',
    '  }',
    '  chain input {',
    '    type filter hook input priority filter; policy accept;',
    `    iifname "${device}" jump to_this_machine`,
    ...listenRule(options),
    '  }',
    '  chain to_this_machine {',
    '    ct state established,related accept',
    `    ip daddr ${own4} icmp type echo-request accept`,
    ...(own6 ? [`    ip6 daddr ${own6} icmpv6 type echo-request accept`] : []),
    ...(openPrivate
      ? []
      : [
          ...isPrivate,
          ...(panelPorts.length > 0 ? [`    tcp dport { ${panelPorts.join(', ')} } drop`] : []),
        ]),
    '  }',
    '  chain translate {',
    '    type nat hook postrouting priority srcnat; policy accept;',
    ...translation(device, server),
    '  }',
  ];
  return [`table inet ${name}`, `delete table inet ${name}`, `table inet ${name} {`, ...lines, '}', ''].join(
    '\n',
  );
}

/** Returns the commands that replace the forwarded ports alone. */
export function portsText(panel: string, inboundId: number, forwarded: readonly ForwardedPort[]): string {
  const name = tableOf(panel, inboundId);
  return (['v4', 'v6'] as const)
    .flatMap((family) => {
      const elements = elementsOf(forwarded, family);
      const ports = `inet ${name} ports${family.slice(1)}`;
      return [`flush map ${ports}`, ...(elements ? [`add element ${ports} { ${elements} }`] : [])];
    })
    .concat('')
    .join('\n');
}

/** Returns the commands that remove the table, whether it is there or not. */
export const noTable = (panel: string, inboundId: number): string => {
  const name = tableOf(panel, inboundId);
  return `table inet ${name}\ndelete table inet ${name}\n`;
};
