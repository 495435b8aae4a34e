// `subJsonRules`: rules before the last one, which sends everything to the entry. Source: xtls.github.io, RuleObject.
import Joi from 'joi';
import type { JsonObject } from '../../engine/contract.js';
import { domainProblem, networkProblem } from './addresses.js';
import { checked, fields, line, lineThat, maybe, oneOrMore, parsed, ports } from './json-text.js';

/** Tags of the outbounds that each document has. */
export const OUTBOUNDS = ['proxy', 'direct', 'block'] as const;
const MOST_RULES = 500;

const networks = () =>
  oneOrMore(
    lineThat((text) =>
      text.split(',').every((part) => ['tcp', 'udp'].includes(part.trim().toLowerCase()))
        ? undefined
        : `a network is tcp, udp or tcp,udp, not ${text}`,
    ),
  );
const domains = () => oneOrMore(lineThat(domainProblem));
const addresses = () => oneOrMore(lineThat(networkProblem));

/** A rule without one of them matches nothing, and the core refuses it. */
const CONDITIONS: Readonly<Record<string, Joi.Schema>> = {
  domain: domains(),
  domains: domains(),
  ip: addresses(),
  port: ports(),
  network: networks(),
  sourceIP: addresses(),
  source: addresses(),
  sourcePort: ports(),
  localIP: addresses(),
  localPort: ports(),
  user: oneOrMore(line()),
  inboundTag: oneOrMore(line()),
  protocol: oneOrMore(Joi.valid('http', 'tls', 'quic', 'bittorrent')),
  attrs: Joi.object().pattern(line(), line()).min(1),
  process: oneOrMore(line()),
  vlessRoute: ports(),
};
const names = Object.keys(CONDITIONS);

const RULE = fields({
  type: maybe(Joi.valid('field')),
  ruleTag: maybe(line()),
  domainMatcher: maybe(line()),
  outboundTag: Joi.valid(...OUTBOUNDS),
  ...Object.fromEntries(names.map((name) => [name, maybe(CONDITIONS[name] as Joi.Schema)])),
})
  .or(...names)
  .messages({
    'object.missing': `{{#label}} needs a condition: one of ${names.join(', ')}`,
    'any.only': '{{#label}} must be one of {{#valids}}',
  });
const RULES = Joi.array().items(RULE).max(MOST_RULES);

export function readRules(text: string): readonly JsonObject[] {
  const value = parsed(text);
  return value === undefined ? [] : (checked(RULES, value) as readonly JsonObject[]);
}
