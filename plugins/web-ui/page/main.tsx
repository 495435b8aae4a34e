// The start of the page: language and session first, then what the address names.
import './styles/base.css';
import './styles/parts.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { pageUrl, session } from './api/panel.js';
import { queries } from './api/queries.js';
import { router } from './app/router.js';
import { LanguageProvider, loadLanguage, preferencesStore } from './language/context.js';
import { StartFailed } from './app/start-failed.js';

/** The base is relative to the address of the document, which changes with each page. */
const base = document.querySelector('base');
if (base) base.href = pageUrl.href;

const root = createRoot(document.getElementById('page') as HTMLElement);

async function start(): Promise<void> {
  const texts = loadLanguage(preferencesStore.read());
  const failure = await session.check().then(
    () => undefined,
    (error: unknown) => ({ error }),
  );
  await texts;
  root.render(
    <StrictMode>
      <LanguageProvider>
        <QueryClientProvider client={queries}>
          {failure ? (
            <StartFailed error={failure.error} retry={() => void start()} />
          ) : (
            <RouterProvider router={router} />
          )}
        </QueryClientProvider>
      </LanguageProvider>
    </StrictMode>,
  );
}

await start();
