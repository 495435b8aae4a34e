// The form of an inbound: protocol, transport and security, each with the fields of its schema.
import { useRef } from 'react';
import { below, hasProblem, type Problems } from '../forms/problems.js';
import type { JsonSchema, Values } from '../forms/schema.js';
import { SchemaForm } from '../forms/schema-form.js';
import { withValue } from '../forms/values.js';
import { useReader } from '../language/context.js';
import { Choice } from '../parts/choice.js';
import { CertificateChoice } from './certificate-choice.js';
import { fieldsBeside, newDocument, partOf, withStream } from './document.js';
import { EndField, NodeField, QuotaField } from './own-fields.js';
import type { Schemas } from './plan.js';
import { TargetScan } from './target-scan.js';

const OWN = new Map([
  ['total', QuotaField],
  ['expiryTime', EndField],
  ['nodeId', NodeField],
]);

export interface InboundFieldsProps {
  readonly document: Values;
  readonly change: (document: Values) => void;
  readonly schemas: Schemas;
  readonly problems: Problems;
  readonly isNew: boolean;
}

export function InboundFields({ document, change, schemas, problems, isNew }: InboundFieldsProps) {
  const { say } = useReader();
  const { protocols, transports } = schemas;
  const typed = useRef<Values>({});
  const protocol = protocols.protocols.find(({ name }) => name === document['protocol']);
  const stream = partOf(document, 'streamSettings');
  const networkName = String(stream['network'] ?? 'tcp');
  const securityName = String(stream['security'] ?? 'none');
  const network = transports.networks.find(({ name }) => name === networkName);
  const security = transports.securities.find(({ name }) => name === securityName);
  const options = (names: readonly string[], own: string) =>
    [...new Set([...names, own])].map((value) => ({ value, text: value }));
  const securitiesOf = (name: string) =>
    protocol?.streams.find((choice) => choice.network === name)?.securities ?? [];
  const setStream = (to: string, wanted: string): void => {
    const allowed = securitiesOf(to);
    const safe = allowed.includes(wanted) ? wanted : (allowed[0] ?? wanted);
    typed.current = { ...typed.current, ...stream };
    change({ ...document, streamSettings: withStream(stream, to, safe, transports, typed.current) });
  };
  const part = (schema: JsonSchema, values: Values, path: string, set: (values: Values) => void) => (
    <SchemaForm
      schema={schema}
      values={values}
      change={set}
      problems={below(problems, path)}
      beside={(name) => {
        if (path === 'streamSettings.realitySettings' && name === 'target')
          return <TargetScan values={values} change={set} />;
        if (path === 'streamSettings.tlsSettings' && name === 'certificates')
          return <CertificateChoice values={values} change={set} />;
        return undefined;
      }}
    />
  );
  const wrong = (path: string) => {
    const problem = problems.get(path);
    return problem === undefined ? {} : { problem };
  };
  const streamPart = (key: string, schema: JsonSchema | null | undefined) =>
    schema &&
    key !== '' &&
    part(schema, partOf(stream, key), `streamSettings.${key}`, (values) =>
      change({ ...document, streamSettings: { ...stream, [key]: values } }),
    );
  return (
    <div className="stack">
      {isNew && (
        <Choice
          label={say('inbounds.protocol')}
          value={String(document['protocol'] ?? '')}
          options={protocols.protocols.map(({ name, title }) => ({ value: name, text: title }))}
          choose={(name) => {
            const next = protocols.protocols.find((one) => one.name === name);
            if (next) change(newDocument(next, protocols, transports, document));
          }}
          {...wrong('protocol')}
        />
      )}
      <SchemaForm
        schema={fieldsBeside(protocols)}
        values={document}
        change={change}
        problems={problems}
        instead={(field) => {
          const { name } = field;
          const Own = OWN.get(name);
          return (
            Own && (
              <Own
                value={document[name]}
                set={(value) => change(withValue(document, field, value))}
                {...wrong(name)}
              />
            )
          );
        }}
      />
      {protocol && Object.keys(protocol.settings.properties ?? {}).length > 0 && (
        <section className="card">
          <h2>{say('inbounds.settings')}</h2>
          {part(protocol.settings, partOf(document, 'settings'), 'settings', (settings) =>
            change({ ...document, settings }),
          )}
        </section>
      )}
      {protocol && protocol.streams.length > 0 && (
        <section className="card">
          <h2>{say('inbounds.stream')}</h2>
          <Choice
            label={say('inbounds.network')}
            value={networkName}
            options={options(
              protocol.streams.map((choice) => choice.network),
              networkName,
            )}
            choose={(name) => setStream(name, securityName)}
            {...wrong('streamSettings.network')}
          />
          <Choice
            label={say('inbounds.security')}
            value={securityName}
            options={options(securitiesOf(networkName), securityName)}
            choose={(name) => setStream(networkName, name)}
            {...wrong('streamSettings.security')}
          />
          {streamPart(network?.key ?? '', network?.settings)}
          {streamPart(security?.key ?? '', security?.settings)}
        </section>
      )}
      <details className="fold card" open={hasProblem(problems, ['sniffing'])}>
        <summary>{say('inbounds.sniffing')}</summary>
        {part(transports.sniffing, partOf(document, 'sniffing'), 'sniffing', (sniffing) =>
          change({ ...document, sniffing }),
        )}
      </details>
    </div>
  );
}
