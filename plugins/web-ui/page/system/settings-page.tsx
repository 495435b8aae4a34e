// The settings of all plugins: found by a search, changed together, and checked by the panel before any is stored.
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useReader } from '../language/context.js';
import { Problem } from '../parts/problem.js';
import { settingSchemasQuery, settingsQuery } from './queries.js';
import { SettingsForm } from './settings-form.js';

const route = getRouteApi('/admin/system/settings');

export function SettingsPage() {
  const { say } = useReader();
  const wanted = route.useSearch().search;
  const schemas = useQuery(settingSchemasQuery);
  const settings = useQuery(settingsQuery);
  const failed = schemas.error ?? settings.error;
  if (schemas.data && settings.data)
    return (
      <>
        <p className="muted">{say('settings.about')}</p>
        <SettingsForm
          plugins={schemas.data.plugins}
          stored={settings.data}
          draftName="settings"
          wanted={wanted}
        />
      </>
    );
  if (!failed) return <p className="muted">{say('loading')}</p>;
  const retry = () => void Promise.all([schemas.refetch(), settings.refetch()]);
  return <Problem error={failed} retry={retry} />;
}
