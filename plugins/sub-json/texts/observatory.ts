// `subJsonObservatory`: how the core measures the outbounds of a document with several. Source: xtls.github.io,
// BurstObservatoryObject.
import Joi from 'joi';
import { goSeconds } from '../../core-guard/contract.js';
import { checked, fields, flag, lineThat, maybe, parsed, whole } from './json-text.js';

export interface PingConfig {
  readonly destination: string;
  readonly connectivity: string;
  readonly interval: string;
  readonly sampling: number;
  readonly timeout: string;
  readonly httpMethod: string;
}
const INITIAL: PingConfig = {
  destination: 'https://www.google.com/generate_204',
  connectivity: '',
  interval: '1m',
  sampling: 2,
  timeout: '5s',
  httpMethod: 'HEAD',
};

const url = () =>
  lineThat((text) =>
    /^https?:\/\//i.test(text) && URL.canParse(text) ? undefined : 'it must be an http or https URL',
  );
/** A duration as Go writes it, of at least a number of seconds. */
const duration = (least: number) =>
  lineThat((text) =>
    (goSeconds(text) ?? -1) >= least
      ? undefined
      : `it must be a duration of at least ${least}s, such as 1m30s`,
  );
const ping = {
  destination: maybe(url()),
  connectivity: maybe(url().allow('')),
  interval: maybe(duration(1)),
  sampling: maybe(whole(1, 100)),
  timeout: maybe(duration(0.1)),
  httpMethod: maybe(Joi.valid('HEAD', 'GET')),
};
/** Older panels nest the fields, and write `enabled` and the outbounds, which follow from the document. */
const OBSERVATORY = fields({
  ...ping,
  pingConfig: maybe(fields(ping)),
  enabled: flag(),
  subjectSelector: maybe(Joi.array().items(Joi.string())),
});

export function readObservatory(text: string): PingConfig {
  const value = parsed(text);
  if (value === undefined) return INITIAL;
  const {
    pingConfig,
    enabled: _enabled,
    subjectSelector: _selector,
    ...own
  } = checked(OBSERVATORY, value) as Partial<
    PingConfig & { pingConfig: Partial<PingConfig>; enabled: boolean; subjectSelector: string[] }
  >;
  return { ...INITIAL, ...pingConfig, ...own };
}
