// The status of a subscription as data: the reply to `?format=info`, and what a page shows.
import type { PluginContext } from '../../kernel/index.js';
import { type ClientRow, PresenceSources } from '../clients/contract.js';
import { panelSettings, type SettingsApi } from '../settings/contract.js';
import type { StatusView } from './pages.js';
import { formatTraffic, UNLIMITED } from './remark/format.js';
import type { Subscriber } from './subscriber.js';

export interface StatusParts {
  readonly urls: { readonly subUrl: string; readonly subJsonUrl: string; readonly subAltUrl: string };
  readonly texts: { readonly subTitle: string; readonly subSupportUrl: string; readonly announce: string };
  readonly subUpdates: number;
  readonly expire: number;
}

export function statusView(
  { client, sharing = [client] }: Subscriber,
  { urls, texts, subUpdates, expire }: StatusParts,
  contributions: PluginContext['contributions'],
  settings: SettingsApi,
): StatusView {
  const { up, down, totalGB } = client;
  const isOnline = ({ id }: ClientRow): boolean =>
    contributions(PresenceSources).some(({ value }) => value.isOnline(id));
  return {
    sId: client.subId,
    enabled: client.enable,
    isOnline: sharing.some(isOnline),
    download: formatTraffic(down),
    upload: formatTraffic(up),
    used: formatTraffic(up + down),
    total: totalGB > 0 ? formatTraffic(totalGB) : UNLIMITED,
    remained: totalGB > 0 ? formatTraffic(Math.max(0, totalGB - up - down)) : '',
    expire,
    lastOnline: client.lastOnline,
    downloadByte: down,
    uploadByte: up,
    totalByte: totalGB,
    ...urls,
    ...texts,
    subUpdates,
    datepicker: settings.read(panelSettings).datepicker,
    emails: [...new Set(sharing.map(({ email }) => email))],
  };
}
