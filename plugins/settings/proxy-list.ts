import { Proxies, text } from '../../kernel/index.js';

/** The entries of a text with commas; blank ones are left out. */
export const proxiesIn = (list: string): string[] =>
  list
    .split(',')
    .map((entry) => entry.trim())
    .filter(Boolean);

/** Addresses and CIDRs, as one text with commas. */
export const proxyList = () =>
  text()
    .max(4096)
    .custom((list: string) => {
      new Proxies(proxiesIn(list));
      return list;
    });
