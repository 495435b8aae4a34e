// What a client would get with settings that are typed and not saved. The panel is asked when typing rests; an answer that
// nobody waits for any more is cancelled, and a value that is refused leaves the last good answer where it is.
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { SubscriptionPreviewReply } from '../../../../sdk/index.js';
import type { Values } from '../forms/schema.js';
import { useRested } from '../parts/rested.js';
import { type Asked, trialQuery } from './queries.js';

const REST_MS = 350;
const NOTHING = '{}';

export interface Trial {
  /** the last good one for this client, format and program; undefined before it */
  readonly reply: SubscriptionPreviewReply | undefined;
  /** why the panel does not preview what is typed now */
  readonly error: Error | null;
  /** `reply` is of what was typed before */
  readonly isWaiting: boolean;
}

/** Undefined while nothing is unsaved. */
export function useTrial(asked: Asked, unsaved: Values): Trial | undefined {
  const typed = JSON.stringify(unsaved);
  const rested = useRested(typed, REST_MS);
  const isTrial = typed !== NOTHING && rested !== NOTHING;
  const query = useQuery({ ...trialQuery(asked, rested), enabled: isTrial });
  const about = JSON.stringify(asked);
  const [good, setGood] = useState<{ readonly about: string; readonly reply: SubscriptionPreviewReply }>();
  const fresh = query.isPlaceholderData ? undefined : query.data;
  useEffect(() => {
    if (!isTrial) setGood(undefined);
    else if (fresh) setGood({ about, reply: fresh });
  }, [isTrial, fresh, about]);
  if (!isTrial) return undefined;
  return {
    reply: fresh ?? (good?.about === about ? good.reply : undefined),
    error: query.error,
    isWaiting: typed !== rested || query.isFetching,
  };
}
