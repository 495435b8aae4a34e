// Settings of the panel as a whole.
import { hostName, int, isTimeZone, oneOf, setting, text, urlPath, inSection } from '../../kernel/index.js';
import { randomBytes } from 'node:crypto';
import { hostList } from './host-list.js';
import { proxyList } from './proxy-list.js';

/** Returns the IANA time zone that `timeLocation` names; undefined is the zone of the machine. */
export const timeZoneOf = (timeLocation: string): string | undefined =>
  timeLocation === 'Local' || timeLocation === '' ? undefined : timeLocation;

const timeZone = () =>
  text().custom((timeLocation: string, state) => {
    const zone = timeZoneOf(timeLocation);
    return zone === undefined || isTimeZone(zone)
      ? timeLocation
      : state.error('any.custom', { error: new Error('it is not an IANA time zone, like Europe/Berlin') });
  });

/** An address of this machine, or its name; empty for all. */
const listenHost = () =>
  text().custom((value: string, state) =>
    value === '' || hostName(value) !== undefined
      ? value
      : state.error('any.custom', {
          error: new Error(
            'it must be an address or a name of this machine, without a port, or empty for all',
          ),
        }),
  );

export const panelSettings = inSection(
  'Panel',
  {
    webListen: setting(
      listenHost(),
      '127.0.0.1',
      'address of the panel, from its next start on; empty for all addresses',
      { change: 'panel' },
    ),
    webBasePath: setting(
      urlPath().max(255),
      () => `/${randomBytes(9).toString('base64url').replaceAll(/[-_]/g, 'x')}/`,
      'path below which the panel is served',
      { level: 'basic' },
    ),
    webPort: setting(
      int().min(0).max(65_535),
      2053,
      'port of the panel, from its next start on; 0 takes a free one at each start',
      { change: 'panel', level: 'basic' },
    ),
    trustedProxyCIDRs: setting(
      proxyList(),
      '',
      'addresses and CIDRs of trusted proxies, whose forwarded headers are used; comma-separated',
    ),
    allowedHosts: setting(
      hostList(),
      [],
      'host names and addresses under which the panel answers, besides loopback and the configured ones; empty for all',
    ),
    sessionMaxAge: setting(
      int().min(1).max(525_600),
      360,
      'minutes that a login lasts after the last request',
      { section: 'Sessions', unit: 'minutes' },
    ),
    sessionMaxLifetime: setting(
      int().min(1).max(525_600),
      43_200,
      'minutes after which a login ends, however much it is used',
      { section: 'Sessions', unit: 'minutes' },
    ),
    timeLocation: setting(
      timeZone(),
      'Local',
      "IANA time zone of days, weeks and months; Local is the machine's",
      { level: 'basic' },
    ),
    pageSize: setting(int().min(0).max(1000), 25, 'rows of a table; 0 shows all at once', {
      section: 'Pages',
    }),
    datepicker: setting(oneOf('gregorian', 'jalalian'), 'gregorian', 'calendar that pages show', {
      section: 'Pages',
      level: 'basic',
    }),
  },
  { level: 'advanced' },
);
