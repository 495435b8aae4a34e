// Stream settings and sniffing of inbounds, as forms need them.
import { optional, type Schema, shape } from '../../kernel/index.js';
import { streamForms } from '../inbounds/contract.js';
import type { FormDescriber } from './form-describer.js';

const { networks: TRANSPORTS, securities: SECURITIES, stream: STREAM, sniffing: Sniffing } = streamForms;

/** The settings of every transport, under all names of their keys. */
const ofTransports: Readonly<Record<string, Schema>> = Object.fromEntries(
  TRANSPORTS.flatMap(({ keys, settings }) => keys.map((key) => [key, optional(settings)])),
);

/** Those of a security are checked where it is chosen, and then cannot be missing. */
const ofSecurities = (describer: FormDescriber) =>
  SECURITIES.flatMap(({ name, own, under }) => [
    ...(own
      ? [
          {
            if: { required: ['security'], properties: { security: { const: name } } },
            // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
            then: {
              required: [own.key],
              properties: {
                [own.key]: describer.part(own.settings, own.key),
                ...(under && { network: { enum: [...namesOf(under)] } }),
              },
            },
          },
        ]
      : []),
  ]);

/** A network under all of its names. */
const namesOf = (networks: readonly string[]): string[] =>
  TRANSPORTS.filter(({ name }) => networks.includes(name)).flatMap(({ name, alias }) =>
    alias === undefined ? [name] : [name, alias],
  );

export function transportSchemas(describer: FormDescriber) {
  const whole = describer.document(shape({ ...STREAM, ...ofTransports }).unknown(true), 'streamSettings');
  return {
    networks: TRANSPORTS.map(({ name, title, alias, keys: [key = '', ...otherKeys], settings }) => ({
      name,
      title,
      aliases: alias === undefined ? [] : [alias],
      key,
      otherKeys,
      settings: describer.document(settings, key),
    })),
    securities: SECURITIES.map(({ name, title, own, under }) => ({
      name,
      title,
      key: own?.key ?? '',
      networks: TRANSPORTS.map((transport) => transport.name).filter(
        (network) => under?.includes(network) ?? true,
      ),
      settings: own ? describer.document(own.settings, own.key) : null,
    })),
    sockopt: describer.document(STREAM.sockopt, 'sockopt'),
    finalmask: describer.document(STREAM.finalmask, 'finalmask'),
    sniffing: describer.document(Sniffing, 'sniffing'),
    streamSettings: { ...whole, allOf: ofSecurities(describer) },
  };
}
