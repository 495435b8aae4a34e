/** Everything that the page says. */
export interface Texts {
  /** where the panel sets no title */
  readonly title: string;
  readonly language: string;
  readonly states: Readonly<Record<'working' | 'disabled' | 'expired' | 'depleted', string>>;
  /** what the user can do */
  readonly advice: Readonly<Record<'disabled' | 'expired' | 'depleted', string>>;
  readonly announcement: string;
  readonly traffic: string;
  readonly used: string;
  readonly usedOf: (used: string, total: string) => string;
  readonly left: string;
  readonly unlimited: string;
  readonly download: string;
  readonly upload: string;
  readonly time: string;
  readonly expires: string;
  readonly expired: string;
  readonly never: string;
  /** such as `30 days, from the first use on` */
  readonly fromFirstUse: (time: string) => string;
  readonly lastOnline: string;
  readonly onlineNow: string;
  readonly notYet: string;
  readonly devices: string;
  readonly devicesOf: (registered: string, limit: string) => string;
  readonly devicesFull: string;
  readonly devicesLeft: string;
  readonly add: string;
  readonly addHow: string;
  /** in front of the name of a program, for those who hear the page */
  readonly addTo: (program: string) => string;
  readonly addresses: string;
  readonly addressesHow: string;
  readonly standard: string;
  readonly servers: string;
  readonly serversHow: string;
  readonly moreServers: (count: string) => string;
  readonly copy: string;
  readonly copied: string;
  readonly notCopied: string;
  readonly qr: string;
  readonly qrOf: (name: string) => string;
  readonly support: string;
  readonly updates: (hours: number, shown: string) => string;
}
