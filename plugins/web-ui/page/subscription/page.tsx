// The settings of the subscription, beside what a chosen client gets.
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { foundClientsQuery } from '../clients/found.js';
import { shownName } from '../format/names.js';
import type { Values } from '../forms/schema.js';
import { useReader } from '../language/context.js';
import { Choice } from '../parts/choice.js';
import { Field } from '../parts/field.js';
import { Problem } from '../parts/problem.js';
import { useRested } from '../parts/rested.js';
import { settingSchemasQuery, settingsQuery } from '../system/queries.js';
import { SettingsForm } from '../system/settings-form.js';
import { subscriptionPlugins } from './own-settings.js';
import { PreviewPane } from './preview-pane.js';
import '../clients/clients.css';
import './subscription.css';

const NOTHING: Values = {};
const route = getRouteApi('/admin/subscription');

export function SubscriptionPage() {
  const { say } = useReader();
  const schemas = useQuery(settingSchemasQuery);
  const settings = useQuery(settingsQuery);
  const [saves, setSaves] = useState(0);
  const [unsaved, setUnsaved] = useState(NOTHING);
  const failed = schemas.error ?? settings.error;
  return (
    <div className="page">
      <h1>{say('subscription.title')}</h1>
      <p className="hint">{say('subscription.about')}</p>
      <div className="columns subscription">
        <div className="stack">
          {failed && (
            <Problem error={failed} retry={() => void Promise.all([schemas.refetch(), settings.refetch()])} />
          )}
          {!failed && !(schemas.data && settings.data) && <p role="status">{say('loading')}</p>}
          {schemas.data && settings.data && (
            <SettingsForm
              plugins={subscriptionPlugins(schemas.data.plugins)}
              stored={settings.data}
              draftName="settings of the subscription"
              label={say('subscription.title')}
              startsOpen
              tellSaved={() => setSaves((now) => now + 1)}
              tellUnsaved={setUnsaved}
            />
          )}
        </div>
        <ClientPreview saves={saves} unsaved={unsaved} />
      </div>
    </div>
  );
}

function ClientPreview({ saves, unsaved }: { saves: number; unsaved: Values }) {
  const { say } = useReader();
  const navigate = useNavigate();
  const wanted = route.useSearch().client;
  const [typed, setTyped] = useState('');
  const search = useRested(typed.trim());
  const found = useQuery(foundClientsQuery(search));
  const emails = (found.data?.items ?? []).map(({ email }) => email);
  const chosen = wanted ?? emails[0];
  const options = [...new Set([...(wanted === undefined ? [] : [wanted]), ...emails])];
  return (
    <section className="card subscription-preview" aria-labelledby="subscription-preview">
      <h2 id="subscription-preview">{say('preview.title')}</h2>
      <p className="hint">{say('subscription.previewHint')}</p>
      {found.error && <Problem error={found.error} retry={() => void found.refetch()} />}
      <Field label={say('groups.find')} type="search" value={typed} onChange={setTyped} maxLength={255} />
      {found.data && emails.length === 0 && (
        <p className="muted">{say(search === '' ? 'subscription.noClient' : 'clients.noMatch')}</p>
      )}
      {chosen !== undefined && (
        <>
          <Choice
            label={say('subscription.client')}
            value={chosen}
            options={options.map((email) => ({ value: email, text: shownName(email) }))}
            choose={(email) =>
              void navigate({ to: '/subscription', search: { client: email }, replace: true })
            }
          />
          <PreviewPane key={chosen} email={chosen} saves={saves} unsaved={unsaved} />
        </>
      )}
    </section>
  );
}
