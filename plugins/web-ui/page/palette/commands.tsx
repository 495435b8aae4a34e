// What the palette can do: pages, actions, and what is found by a name, each with what a choice of it does.
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { inboundsQuery } from '../api/queries.js';
import { session } from '../api/panel.js';
import { useMay, useOwnKind } from '../api/rights.js';
import { useIsRunning } from '../api/running.js';
import { useOfferedPages } from '../app/shell.js';
import { shownName } from '../format/names.js';
import { preferencesStore, useReader } from '../language/context.js';
import { LANGUAGES } from '../language/languages.js';
import { nodesQuery } from '../nodes/queries.js';
import { notifyTrouble } from '../parts/notices.js';
import { settingSchemasQuery } from '../system/queries.js';
import { rowsOf } from '../system/setting-fields.js';
import { type Entry, matching } from './entries.js';
import { foundClientsQuery } from './queries.js';

/** Of each kind that is found by a name. */
const MOST = 8;

/** A dialog that a command leaves open in place of the palette. */
export type Following = 'newClient' | 'restart';
export interface Command extends Entry {
  readonly run: () => unknown;
}

export function usePages(): readonly Command[] {
  const { say } = useReader();
  const navigate = useNavigate();
  return useOfferedPages().map(({ to, text }) => ({
    id: to,
    kind: 'page',
    text: say(text),
    run: () => navigate({ to }),
  }));
}

export function useActions(showKeys: () => void, follow: (next: Following) => void): readonly Command[] {
  const { say } = useReader();
  const navigate = useNavigate();
  const may = useMay();
  const theme = preferencesStore.read().theme === 'dark' ? 'light' : 'dark';
  const logOut = () => session.logOut().catch(notifyTrouble);
  const action = (id: string, text: string, run: () => unknown): Command => ({
    id,
    kind: 'action',
    text,
    run,
  });
  return [
    ...(may('clients:write') ? [action('new-client', say('new.title'), () => follow('newClient'))] : []),
    ...(may('inbounds:write')
      ? [action('new-inbound', say('inbounds.new'), () => navigate({ to: '/inbound/new' }))]
      : []),
    ...(may('core:write') ? [action('restart', say('palette.restart'), () => follow('restart'))] : []),
    action('theme', say(`palette.${theme}`), () => preferencesStore.write({ theme })),
    ...LANGUAGES.map(({ key, name }) =>
      action(`language ${key}`, `${say('palette.language')} ${name}`, () =>
        preferencesStore.write({ language: key }),
      ),
    ),
    action('keys', say('account.keys'), showKeys),
    action('log-out', say('account.logOut'), logOut),
  ];
}

/** What has the words in its name, of clients, inbounds, nodes and settings. */
export function useFound(search: string) {
  const navigate = useNavigate();
  const enabled = search !== '';
  const isRunning = useIsRunning();
  const may = useMay();
  const isOwn = useOwnKind() !== undefined;
  const clients = useQuery({ ...foundClientsQuery(search), enabled: enabled && may('clients:read') });
  const inbounds = useQuery({ ...inboundsQuery, enabled: enabled && may('inbounds:read') });
  const nodes = useQuery({ ...nodesQuery, enabled: enabled && isRunning('nodes') && may('nodes:read') });
  const settings = useQuery({ ...settingSchemasQuery, enabled: enabled && !isOwn });
  const named = (entries: readonly Command[]): Command[] => matching(entries, search).slice(0, MOST);
  const found: readonly Command[] = !enabled
    ? []
    : [
        ...(clients.data ?? []).map((email) => ({
          id: `client ${email}`,
          kind: 'client' as const,
          text: shownName(email),
          run: () => navigate({ to: '/client', search: { name: email, edit: undefined } }),
        })),
        ...named(
          (inbounds.data ?? []).map(({ id, remark, tag }) => ({
            id: `inbound ${id}`,
            kind: 'inbound' as const,
            text: shownName(remark || tag),
            run: () => navigate({ to: '/inbound', search: { id: String(id) } }),
          })),
        ),
        ...named(
          (nodes.data ?? []).map(({ id, name }) => ({
            id: `node ${id}`,
            kind: 'node' as const,
            text: shownName(name),
            run: () => navigate({ to: '/node', search: { id: String(id), edit: undefined } }),
          })),
        ),
        ...named(
          rowsOf(settings.data?.plugins ?? []).map(({ field }) => ({
            id: `setting ${field.name}`,
            kind: 'setting' as const,
            text: field.title,
            run: () => navigate({ to: '/system/settings', search: { search: field.name } }),
          })),
        ),
      ];
  const all = [clients, inbounds, nodes, settings];
  return {
    found,
    failed: all.find(({ error }) => error !== null),
    isFetching: all.some(({ isFetching }) => isFetching),
  };
}
