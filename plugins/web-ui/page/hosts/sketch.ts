// What a host changes in a share link, before it is saved: its own parts are written out, those of the inbound are `…`.
import { HOST_FIELDS, linesOf, type TypedHost } from './fields.js';

const MOST = 3;
const REST = '…';

interface Place {
  readonly address: string;
  readonly port: string;
}

/** `cdn.example.com:8443`, `[2001:db8::1]:8443`, `2001:db8::1`, `:8443`; a port of the line comes before that of the group. */
export function placeOf(line: string, port: string): Place {
  const bracketed = /^\[([^\]]*)\](?::(\d+))?$/.exec(line);
  const plain = /^([^:]*):(\d+)$/.exec(line);
  const [, address = line, own] = bracketed ?? plain ?? [];
  const shown = own ?? port;
  return {
    address: address === '' || address === '*' ? REST : address.includes(':') ? `[${address}]` : address,
    port: shown === '' || shown === '0' ? REST : shown,
  };
}

/** Of the fields that share links say in a parameter of their own, those that are set. */
function paramsOf(typed: TypedHost, address: string): string[] {
  const hasTls = typed.security !== 'none';
  const params = HOST_FIELDS.flatMap(({ name, inLink = '', input, isOfSecurity }) => {
    const text = typed[name].trim();
    if (text === '' || !inLink.includes('=') || (isOfSecurity && !hasTls)) return [];
    if (name === 'security' || name === 'sni' || name === 'overrideSniFromAddress') return [];
    if (input === 'switch') return [inLink];
    return [`${inLink}${input === 'json' ? REST : linesOf(text).join(',')}`];
  });
  const name = nameFor(typed, address);
  // REALITY is that of the inbound, wherever it has one.
  const security =
    typed.security === 'same' || typed.security === 'reality' ? [] : [`security=${typed.security}`];
  return [...security, ...(hasTls && name !== '' ? [`sni=${name}`] : []), ...params];
}

function nameFor({ keepSniBlank, overrideSniFromAddress, sni }: TypedHost, address: string): string {
  if (keepSniBlank === '1') return '';
  return overrideSniFromAddress === '1' ? address : sni.trim();
}

export interface Sketch {
  /** one for each address, the first three of them */
  readonly links: readonly string[];
  readonly more: number;
}

export function sketchOf(typed: TypedHost): Sketch {
  const lines = linesOf(typed.hosts);
  const places = (lines.length === 0 ? ['*'] : lines).map((line) => placeOf(line, typed.port.trim()));
  return {
    links: places.slice(0, MOST).map(({ address, port }) => {
      const params = [REST, ...paramsOf(typed, address)].join('&');
      return `…://…@${address}:${port}?${params}#${typed.remark.trim() || REST}`;
    }),
    more: Math.max(0, places.length - MOST),
  };
}
