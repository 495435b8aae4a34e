import {
  bool,
  int,
  list,
  oneOf,
  optional,
  payload,
  route,
  type Route,
  shape,
  text,
  withDefault,
  withMessage,
  word,
} from '../../kernel/index.js';
import type { AuditTrailApi } from '../audit/contract.js';
import { holdingOpen } from '../outgoing/contract.js';
import { FILE_NAME } from './asset-files.js';
import type { Browser } from './browse.js';
import { errors } from './errors.js';
import { ITEM_TYPES } from './items.js';
import type { GeodataCheck } from './part-check.js';
import { LONGEST_TOKEN, tokenOf } from './token.js';
import type { Updated, Updater } from './updater.js';

const MOST_ON_PAGE = 500;
const MOST_TOKENS = 500;
const fileName = () =>
  word().max(127).pattern(FILE_NAME, 'a file name that ends with .dat, without a path').example('geoip.dat');
const page = {
  q: withDefault(text().max(253).allow(''), '').description('only those with this text, in any case'),
  offset: withDefault(int().min(0).max(100_000_000), 0),
  limit: withDefault(int().min(1).max(MOST_ON_PAGE), 100),
};

const Result = shape({
  files: list(
    shape({
      name: word(),
      changed: bool(),
      sha256: word(),
      digestFrom: text().description('address of the published digest; blank without one'),
    }),
  ),
  restarted: bool().description('whether the core restarted to read a changed file'),
  problems: list(text()).description('parts of the config that the core does without, because of geodata'),
  pending: text().description('why the core does not have the change yet; else blank'),
});

function describe({ files, restarted, problems, pending }: Updated): string {
  const one = ({ name, changed, digestFrom }: Updated['files'][number]): string =>
    changed
      ? `${name} is updated (${digestFrom === '' ? 'its source publishes no digest' : 'its digest matches'})`
      : `${name} is unchanged`;
  return [
    ...files.map(one),
    ...(restarted ? ['the core restarted'] : []),
    ...problems.map((problem) => `the core does without a part of the config: ${problem}`),
    ...(pending === '' ? [] : [`the core does not have it yet: ${pending}`]),
  ].join('; ');
}

interface Services {
  readonly updater: Updater;
  readonly browser: Browser;
  readonly check: GeodataCheck;
  readonly audit?: AuditTrailApi | undefined;
}

export const routes = ({ updater, browser, check, audit }: Services): Route[] => [
  route({
    method: 'POST',
    path: '/panel/api/server/updateGeofile',
    name: 'server.updateGeofiles',
    doc: 'Updates geoip.dat, geosite.dat and all other geodata files here that have a source. Sources are asked for changes only. A file replaces the previous one after its digest and its content were checked. Rules that name a file that has changed are given to the core again; name servers that do so restart it.',
    reply: payload(Result),
    errors: [errors.BUSY, errors.DOWNLOAD],
    handle: async ({ who, reply }) => {
      await audit?.act('geodata', who, { name: 'update of all files' });
      const updated = await holdingOpen(reply.progressed, () => updater.update());
      return withMessage(describe(updated), updated);
    },
  }),
  route({
    method: 'POST',
    path: '/panel/api/server/updateGeofile/{filename}',
    name: 'server.updateGeofile',
    doc: 'Updates one geodata file, or installs it. Its source is in the setting geodataSources.',
    params: shape({ filename: fileName() }),
    reply: payload(Result),
    errors: [errors.BUSY, errors.DOWNLOAD, errors.NO_SOURCE],
    handle: async ({ params, who, reply }) => {
      await audit?.act('geodata', who, { name: `update of ${params.filename}` });
      const updated = await holdingOpen(reply.progressed, () => updater.update(params.filename));
      return withMessage(describe(updated), updated);
    },
  }),
  route({
    method: 'GET',
    path: '/panel/api/x/geodata/files',
    name: 'geodata.files',
    doc: 'The geodata files that the core can read.',
    reply: payload(
      list(
        shape({
          name: word(),
          path: word(),
          kind: oneOf('ip', 'site', '').description('blank for a file that cannot be used'),
          size: int(),
          mtime: int().description('Unix ms'),
          sha256: text(),
          source: text().description('address that sent this file; blank for a file that an admin put there'),
          categories: int(),
          problem: text().description('why the core cannot use it; else blank'),
        }),
      ),
    ),
    handle: () => browser.files(),
  }),
  route({
    method: 'GET',
    path: '/panel/api/x/geodata/categories',
    name: 'geodata.categories',
    doc: 'The categories of a file by their codes, with the number of their entries.',
    query: shape({ file: fileName(), ...page }),
    reply: payload(
      shape({
        total: int(),
        items: list(shape({ code: text(), count: int(), attributes: list(text()) })),
      }),
    ),
    errors: [errors.UNKNOWN, errors.DAMAGED],
    handle: async ({ query }) => {
      const { total, items } = await browser.categories(query.file, query);
      return { total, items: items.map(({ code, count, attributes }) => ({ code, count, attributes })) };
    },
  }),
  route({
    method: 'GET',
    path: '/panel/api/x/geodata/entries',
    name: 'geodata.entries',
    doc: 'The entries of a category: ranges of addresses, or domains.',
    query: shape({ file: fileName(), code: word().max(127).example('PRIVATE'), ...page }),
    reply: payload(
      shape({
        total: int(),
        items: list(shape({ type: oneOf(...ITEM_TYPES), value: text(), attributes: list(text()) })),
      }),
    ),
    errors: [errors.UNKNOWN, errors.DAMAGED],
    handle: ({ query }) => browser.items(query.file, query.code, query),
  }),
  route({
    method: 'POST',
    path: '/panel/api/x/geodata/check',
    name: 'geodata.check',
    doc: 'Whether values of rules name geodata that is here, such as geoip:de, geosite:cn@ads or ext:my.dat:work. A value that names no geodata is known.',
    body: shape({
      tokens: list(text().max(LONGEST_TOKEN)).max(MOST_TOKENS),
      kind: optional(oneOf('ip', 'site')).description('what stands in the place of these values'),
    }).example({ tokens: ['geoip:private', '10.0.0.0/8'] }),
    reply: payload(
      list(
        shape({
          token: text(),
          known: bool(),
          geodata: bool(),
          reason: text().description('blank if known'),
        }),
      ),
    ),
    handle: async ({ body: { tokens, kind } }) => {
      const results = [];
      for (const token of tokens) {
        const reason = (await check.ofToken(token, kind)) ?? '';
        results.push({ token, known: reason === '', geodata: tokenOf(token, kind) !== undefined, reason });
      }
      return results;
    },
  }),
];
