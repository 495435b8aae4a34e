import { bool, int, setting, text, inSection } from '../../kernel/index.js';
import { callbackUrlProblem } from './callback-url.js';

export const callbackSettings = inSection(
  'Event callbacks',
  {
    eventCallbackDays: setting(
      int().min(1).max(90),
      7,
      'days for which events for endpoints are stored, delivered or not',
      { unit: 'days' },
    ),
    eventCallbackMostEvents: setting(
      int().min(1_000).max(1_000_000),
      50_000,
      'the most events that are stored for endpoints; older ones are removed, delivered or not',
    ),
    eventCallbackFailingDays: setting(
      int().min(1).max(30),
      5,
      'days of failures after which an endpoint is disabled',
      { unit: 'days' },
    ),
    externalTrafficInformEnable: setting(
      bool(),
      false,
      'whether the bytes of each poll are sent to externalTrafficInformURI',
      { section: 'Bytes of each poll' },
    ),
    externalTrafficInformURI: setting(
      text()
        .max(2_048)
        .custom((value: string) => {
          const problem = value === '' ? undefined : callbackUrlProblem(value);
          if (problem !== undefined) throw new Error(`${problem}, or blank`);
          return value;
        }),
      '',
      'address to which the bytes of each poll are sent as JSON',
      { section: 'Bytes of each poll', when: { field: 'externalTrafficInformEnable' } },
    ),
  },
  { level: 'advanced' },
);
