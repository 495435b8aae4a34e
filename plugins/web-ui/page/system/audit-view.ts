// What of the record of changes is shown, as it stands in the address.

export const KINDS = ['added', 'updated', 'deleted', 'done'] as const;
export type Kind = (typeof KINDS)[number];
/** Hours back from now. */
export const HOURS = ['1', '24', '168', '720'] as const;
export type Hours = (typeof HOURS)[number];

/** Kinds of records that have a text of their own; others are shown by their name. */
export const AREAS = [
  'client',
  'clientJob',
  'group',
  'inbound',
  'host',
  'fallback',
  'certificate',
  'externalLink',
  'subBalancer',
  'setting',
  'coreTemplate',
  'admin',
  'token',
  'recoveryCodes',
  'metricsToken',
  'session',
  'inboundTraffic',
  'outboundTraffic',
  'device',
  'addresses',
  'outboundSub',
  'balancerOverride',
  'node',
  'nodeTrust',
  'nodeAuthority',
  'ban',
  'eventCallback',
  'redelivery',
  'core',
  'panel',
  'plugin',
  'job',
  'geodata',
  'archive',
  'backup',
  'download',
] as const;
export type KnownArea = (typeof AREAS)[number];
export const isKnownArea = (area: string): area is KnownArea => (AREAS as readonly string[]).includes(area);

export interface AuditView {
  readonly area?: string | undefined;
  readonly kind?: Kind | undefined;
  readonly who?: string | undefined;
  readonly name?: string | undefined;
  readonly hours?: Hours | undefined;
  /** days such as `2026-01-31`, in the zone of the reader; not beside `hours` */
  readonly from?: string | undefined;
  readonly until?: string | undefined;
}

const LONGEST = { area: 32, who: 255, name: 255 } as const;

const oneOf = <T extends string>(value: unknown, all: readonly T[]): T | undefined =>
  all.find((one) => one === value);

function dayOf(value: unknown): string | undefined {
  const day = String(value);
  if (!/^\d{4}-\d\d-\d\d$/.test(day)) return undefined;
  const ms = Date.parse(`${day}T00:00:00Z`);
  // The 30th of February is the 2nd of March.
  return Number.isNaN(ms) || new Date(ms).toISOString().slice(0, 10) !== day ? undefined : day;
}

/** What an address says; what it says wrong is left out. */
export function auditViewOf(params: Readonly<Record<string, unknown>>): AuditView {
  const textOf = (name: keyof typeof LONGEST): string | undefined => {
    const value = params[name];
    const text = typeof value === 'string' ? value.trim() : '';
    return text === '' || text.length > LONGEST[name] ? undefined : text;
  };
  const hours = oneOf(params['hours'], HOURS);
  return {
    area: textOf('area'),
    kind: oneOf(params['kind'], KINDS),
    who: textOf('who'),
    name: textOf('name'),
    hours,
    from: hours === undefined ? dayOf(params['from']) : undefined,
    until: hours === undefined ? dayOf(params['until']) : undefined,
  };
}

export const isFiltered = (view: AuditView): boolean =>
  Object.values(view).some((value) => value !== undefined);
