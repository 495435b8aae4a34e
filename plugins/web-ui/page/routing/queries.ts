// What the pages of routing ask the panel for, and the draft that they share.
import { queryOptions } from '@tanstack/react-query';
import type { EngineTestOutboundReply } from '../../../../sdk/index.js';
import { whenLeft } from '../api/leaving.js';
import { session, weir } from '../api/panel.js';
import { queries } from '../api/queries.js';
import { isAbsent } from '../api/trouble.js';
import { live } from '../live/live.js';
import { TemplateDraft } from './draft-store.js';
import { parsed } from './template.js';

/** Null where the plugin that answers it does not run. */
async function orNull<T>(call: Promise<T>): Promise<T | null> {
  try {
    return await call;
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
}

export const draft = new TemplateDraft();

// The draft outlives the pages of routing, so what guards it does, too.
addEventListener('beforeunload', (event) => {
  if (draft.isChanged) event.preventDefault();
});
whenLeft(session, () => draft.forget());

export const templateQuery = queryOptions({
  queryKey: ['routing', 'template'],
  queryFn: async ({ signal }) => {
    const reply = await orNull(weir.engine.template({ signal }));
    if (!reply) return null;
    const { engineSetting, version, inboundTags, subscriptionOutboundTags } = reply;
    draft.meet({ template: parsed(engineSetting), version });
    return {
      inboundTags: JSON.parse(inboundTags) as string[],
      otherTags: JSON.parse(subscriptionOutboundTags) as string[],
    };
  },
  staleTime: 5_000,
  refetchInterval: 30_000,
});
export const outboundTrafficQuery = queryOptions({
  queryKey: ['routing', 'traffic'],
  queryFn: ({ signal }) => orNull(weir.engine.outboundsTraffic({ signal })),
  refetchInterval: 30_000,
});
/** What balancers of the running core choose from. */
export const balancersQuery = queryOptions({
  queryKey: ['routing', 'balancers'],
  queryFn: ({ signal }) => orNull(weir.engine.balancerStatus({}, { signal })),
  staleTime: 5_000,
  refetchInterval: 10_000,
});
/** The last probes of outbounds. */
export const probesQuery = queryOptions({
  queryKey: ['routing', 'probes'],
  queryFn: ({ signal }) => orNull(weir.server.engineObservatory({ signal })),
  refetchInterval: 10_000,
});
export const listsQuery = queryOptions({
  queryKey: ['routing', 'lists'],
  queryFn: ({ signal }) => orNull(weir.engine.outboundSubs({ signal })),
  refetchInterval: 30_000,
});
/** After a change of a list: its outbounds are in the core at once. */
export const listsChanged = (): Promise<void> => queries.invalidateQueries({ queryKey: ['routing'] });
live.on('invalidate', (messages) => {
  const types = messages.map((message) => (message as { readonly type?: unknown } | null)?.type);
  if (types.includes('outbounds')) void listsChanged();
  else if (types.includes('outbound-subs')) void queries.invalidateQueries({ queryKey: listsQuery.queryKey });
});

/** A result counts for the outbound as it was tested. */
export interface Tested {
  readonly of: string;
  readonly result: EngineTestOutboundReply;
}
export const testsQuery = queryOptions({
  queryKey: ['routing', 'tests'],
  queryFn: (): Readonly<Record<string, Tested>> => queries.getQueryData(['routing', 'tests']) ?? {},
  initialData: {},
  staleTime: Number.POSITIVE_INFINITY,
});
export const putTests = (tests: Readonly<Record<string, Tested>>): void =>
  void queries.setQueryData(testsQuery.queryKey, (now) => ({ ...now, ...tests }));
