// The texts of `hosts`: an address, with or without a port. Refused where it is neither, as nobody could dial it.
import { domainToASCII } from 'node:url';
import { canonicalAddress, hostName } from '../../kernel/index.js';

/** Where clients dial. */
export interface HostAddress {
  /** host name or IP address, IPv6 without brackets; empty: the inbound's own */
  readonly address: string;
  /** the port in the text, 0 for that of the inbound; null: the port of the group */
  readonly ownPort: number | null;
}

const HIGHEST = 65_535;
/** Digits only, but for a plus sign and zeros in front that other programs wrote. */
const PORT = /^\+?\d{1,10}$/;
const ASCII = /^[\x20-\x7e]*$/;

/** Undefined for what is no name and no address. */
export function addressOf(text: string): string | undefined {
  if (text === '') return '';
  if (text.includes('%')) return undefined;
  if (text.includes(':')) return canonicalAddress(text);
  return hostName(ASCII.test(text) ? text : domainToASCII(text));
}

/** Undefined for what is no port. */
function portOf(text: string): number | undefined {
  const port = PORT.test(text) ? Number(text) : HIGHEST + 1;
  return port <= HIGHEST ? port : undefined;
}

/** Reads one text; returns the reason, a sentence without its subject, when it is refused. */
export function parseHost(sent: string): HostAddress | string {
  const text = sent.trim();
  const colons = text.split(':').length - 1;
  const [, inside, rest = ''] = /^\[([^\]]*)\](.*)$/s.exec(text) ?? [];
  const [host, port] =
    inside !== undefined
      ? [inside, rest === '' ? undefined : rest.startsWith(':') ? rest.slice(1) : 'x']
      : colons === 1
        ? [text.slice(0, text.indexOf(':')), text.slice(text.indexOf(':') + 1)]
        : [text, undefined];
  const address = addressOf(host);
  if (address === undefined)
    return `is not a host name, an IPv4 address, or an IPv6 address (in brackets, if a port follows): "${sent}"`;
  const ownPort = port === undefined ? null : portOf(port);
  if (ownPort === undefined) return `needs a port from 0 to ${HIGHEST} after its last colon: "${sent}"`;
  return { address, ownPort };
}

/** The text that `parseHost` reads as this. */
export function hostText({ address, ownPort }: HostAddress): string {
  if (ownPort === null) return address;
  return `${address.includes(':') ? `[${address}]` : address}:${ownPort}`;
}
