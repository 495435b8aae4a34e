// What the own pages ask the panel for: what the caller may do, and its clients.
import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import type { GroupRolesOwnReply, ResellerFiguresReply } from '../../../../sdk/index.js';
import type { OwnKind } from '../api/may.js';
import { weir } from '../api/panel.js';
import { queries } from '../api/queries.js';
import { useOwnKind } from '../api/rights.js';
import { ownCalls } from './calls.js';
import type { OwnView } from './view.js';

export const PAGE_SIZE = 25;

export const figuresQuery = queryOptions({
  queryKey: ['own', 'figures'],
  queryFn: ({ signal }) => weir.reseller.figures({ signal }),
});
export const ownGroupsQuery = queryOptions({
  queryKey: ['own', 'groups'],
  queryFn: ({ signal }) => weir.groupRoles.own({ signal }),
});
export const ownClientsQuery = (kind: OwnKind | undefined, { search = '', status = '', page = 1 }: OwnView) =>
  queryOptions({
    queryKey: ['own', 'clients', kind, search, status, page],
    queryFn: ({ signal }) =>
      ownCalls(kind).clients(
        { search, status, page, pageSize: PAGE_SIZE, sort: 'createdAt', order: 'descend' },
        { signal },
      ),
    placeholderData: keepPreviousData,
    // There is no live stream for these callers.
    refetchInterval: 30_000,
  });
export const ownClientQuery = (kind: OwnKind | undefined, id: number) =>
  queryOptions({
    queryKey: ['own', 'client', kind, id],
    queryFn: ({ signal }) => ownCalls(kind).client(id, { signal }),
    refetchInterval: 30_000,
  });

export const readOwnAgain = (): Promise<void> => queries.invalidateQueries({ queryKey: ['own'] });

/** What the caller may do with the clients that are shown. */
export interface OwnTerms {
  readonly mayWrite: boolean;
  readonly mayReset: boolean;
  /** with which names must begin */
  readonly prefix: string;
  readonly hasQuota: boolean;
  /** of a new client */
  readonly inbounds: ResellerFiguresReply['inbounds'];
  /** of an admin of groups; none for a reseller */
  readonly groups: readonly string[];
}
const termsOfReseller = ({ mayReset, prefix, maxBytes, inbounds }: ResellerFiguresReply): OwnTerms => ({
  mayWrite: true,
  mayReset,
  prefix,
  hasQuota: maxBytes > 0,
  inbounds,
  groups: [],
});
const termsOfGroups = ({ level, groups, inbounds }: GroupRolesOwnReply): OwnTerms => ({
  mayWrite: level === 'write',
  mayReset: level === 'write',
  prefix: '',
  hasQuota: false,
  inbounds,
  groups: groups.map(({ name }) => name),
});

/** Undefined before the panel has answered. */
export function useOwnTerms(): OwnTerms | undefined {
  const kind = useOwnKind();
  const figures = useQuery({ ...figuresQuery, enabled: kind !== 'groups' }).data;
  const own = useQuery({ ...ownGroupsQuery, enabled: kind === 'groups' }).data;
  if (kind === 'groups') return own && termsOfGroups(own);
  return figures && termsOfReseller(figures);
}
