// The downloads of the database, and their import, which restarts the panel.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { ProgramPanel } from '../harness/program-panel.js';
import { Asking } from './asking.js';
import { DATABASE } from './server.js';

interface Download {
  readonly fileName: string;
  readonly size: number;
  readonly sha256: string;
  readonly data: string;
}

test('database: the downloads and the import of the API description', async (t) => {
  const dataDirectory = await mkdtemp(join(tmpdir(), 'weir-test-'));
  t.teardown(() => rm(dataDirectory, { recursive: true, force: true }));
  const env = { WEIR_ENGINE_BIN: '/nowhere/core', WEIR_ENGINE_INSTALL: 'off' };
  const panel = await ProgramPanel.start({ dataDirectory, env });
  t.teardown(() => panel.stop());
  const asking = new Asking(panel, DATABASE);
  const at = '/panel/api/server';
  const headers = { accept: 'application/json' };

  await panel.addClient('ann', [await panel.addInbound()]);
  for (const path of ['getDb', 'getMigration'] as const) {
    const { data, size } = await asking.ask<Download & { size: number }>(t, `GET ${at}/${path}`, { headers });
    t.is(Buffer.from(data, 'base64').length, size, path);
    const file = await fetch(`${panel.url}${at}/${path}`, { headers: { cookie: panel.cookie } });
    t.regex(file.headers.get('content-disposition') ?? '', /^attachment; filename=/, path);
  }
  const { data } = await panel.get<Download>(`${at}/getDb`, { headers });
  await panel.get('/panel/api/clients/del/ann', { method: 'POST' });
  const parts = new FormData();
  parts.append('db', new Blob([Buffer.from(data, 'base64')]), 'weir.db');
  await asking.ask(t, `POST ${at}/importDB`, { parts });
  await panel.until(() => panel.log.filter(({ msg }) => msg === 'ready').length === 2, 'it serves again');
  await panel.login();
  t.like(await panel.get('/panel/api/clients/get/ann'), { email: 'ann' });
  asking.end(t);
});
