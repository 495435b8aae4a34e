// Taps the hooks that events are declared for.
import { type Contributed, type During, type Event, type Tap, tap } from '../../../kernel/index.js';
import type { Notifier } from '../notifier.js';
import type { DeclaredEvent } from './declared-events.js';

export const eventTaps = (entries: readonly Contributed<DeclaredEvent>[], notifier: Notifier): Tap[] =>
  entries.map((entry) =>
    entry.value.hook.kind === 'event'
      ? tap(entry.value.hook as Event<unknown>, (payload) => notifier.take(entry, payload), {
          missed: () => notifier.missed(entry),
        })
      : tap(entry.value.hook as During<unknown>, (payload, tx) => notifier.takeWithin(tx, entry, payload)),
  );
