// `sniffing` of an inbound: the core looks into connections for the name of their destination. Settings: xtls.github.io,
// SniffingObject; XTLS/Xray-core, infra/conf/xray.go, SniffingConfig.
import Joi from 'joi';
import { annotate, bool, custom, list, oneOf, type Schema, shape, text } from '../../../kernel/index.js';
import { advanced, maybe, section, words } from '../form.js';

const KINDS = ['http', 'tls', 'quic', 'fakedns', 'fakedns+others'] as const;
const whereOn = { when: { field: 'enabled' } };

export const Sniffing: Schema = shape({
  ...section('Sniffing', {
    enabled: annotate(maybe(bool()), { initial: false }).description(
      'look into connections for the name of their destination; rules for domains and protocols need it',
    ),
    // The first form is for forms; the core takes the others as well.
    destOverride: annotate(
      maybe(
        custom<readonly string[] | string>(
          Joi.alternatives(list(oneOf(...KINDS)).unique(), list(text()), text()),
        ),
      ),
      { ...whereOn, initial: ['http', 'tls', 'quic'] },
    ).description('what to look for'),
  }),
  ...advanced('Sniffing', {
    routeOnly: annotate(maybe(bool()), whereOn).description(
      'the name is for rules alone; the connection goes to the address that was asked for',
    ),
    metadataOnly: annotate(maybe(bool()), whereOn).description('look at no content, only at fake DNS'),
    domainsExcluded: annotate(maybe(words()), whereOn).description('names that replace no destination'),
  }),
}).unknown(true);
